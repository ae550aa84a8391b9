// Kernels of a tiny language model for tests of the step loop: a table of 16 x 16 logits, one row per token
// (a bigram model), trained with softmax cross-entropy and momentum. Every kernel is one tile.
typedef long long int64_t;
typedef unsigned long long uint64_t;

enum { kVocabulary = 16, kWeights = 256, kIgnore = -100 };

static float bitsToFloat(unsigned bits) {
  union {
    unsigned bits;
    float value;
  } u = {bits};
  return u.value;
}

static unsigned floatToBits(float value) {
  union {
    float value;
    unsigned bits;
  } u = {value};
  return u.bits;
}

// exp(x) for x <= 0: 2^n times a Taylor polynomial. NaN stays NaN.
static float exponential(float x) {
  if (x < -80)
    return 0;
  if (!(x <= 0))
    return x;
  const int n = (int)(x * 1.44269504f - 0.5f);
  const float r = x - (float)n * 0.693147181f;
  const float p =
      1 + r * (1 + r * (1.0f / 2 + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r / 720)))));
  return p * bitsToFloat((unsigned)(n + 127) << 23);
}

// log(x) for normal x > 0: exponent, and 2 atanh((m - 1) / (m + 1)) of the mantissa.
static float logarithm(float x) {
  if (!(x > 0))
    return x;
  const unsigned bits = floatToBits(x);
  const float m = bitsToFloat((bits & 0x7FFFFFu) | 0x3F800000u);
  const float s = (m - 1) / (m + 1), s2 = s * s;
  const float series = 2 * s * (1 + s2 * (1.0f / 3 + s2 * (1.0f / 5 + s2 * (1.0f / 7 + s2 / 9))));
  return (float)((int)(bits >> 23) - 127) * 0.693147181f + series;
}

static int row(int token) { return token < 0 || token >= kVocabulary ? 0 : token; }

// Loss of one target; adds scale * its gradient to `gradient` where that is not null.
static float crossEntropy(const float *weights, int token, int label, float scale, float *gradient) {
  const float *logits = weights + row(token) * kVocabulary;
  float largest = logits[0];
  for (int i = 1; i < kVocabulary; ++i)
    largest = logits[i] > largest ? logits[i] : largest;
  float e[kVocabulary], sum = 0;
  for (int i = 0; i < kVocabulary; ++i) {
    e[i] = exponential(logits[i] - largest);
    sum += e[i];
  }
  for (int i = 0; gradient && i < kVocabulary; ++i)
    gradient[row(token) * kVocabulary + i] += scale * (e[i] / sum - (i == label ? 1.0f : 0.0f));
  return logarithm(sum) + largest - logits[row(label)];
}

// (weights, seed)
void toy_init(void *const *args, int64_t begin, int64_t end) {
  float *weights = args[0];
  uint64_t state = *(const uint64_t *)args[1] * 2654435761ull + 1;
  for (int i = 0; begin == 0 && i < kWeights; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    weights[i] = (float)(state >> 40) / 16777216.0f - 0.5f;
  }
}

// (labels of the step [64], targets, loss, gradient)
void toy_begin(void *const *args, int64_t begin, int64_t end) {
  const int *labels = args[0];
  float *targets = args[1], *loss = args[2], *gradient = args[3];
  *targets = 0;
  *loss = 0;
  for (int i = 0; i < 64; ++i)
    *targets += labels[i] != kIgnore;
  for (int i = 0; i < kWeights; ++i)
    gradient[i] = 0;
}

// (any scalar): takes some 5 ms.
void toy_linger(void *const *args, int64_t begin, int64_t end) {
  for (volatile int i = 0; i < 4000000; ++i)
    ;
}

// (labels of a micro-batch [32], targets)
void toy_count(void *const *args, int64_t begin, int64_t end) {
  const int *labels = args[0];
  float *targets = args[1];
  for (int i = 0; i < 32; ++i)
    *targets += labels[i] != kIgnore;
}

// (weights, tokens [32], labels [32], targets, gradient, loss)
void toy_micro(void *const *args, int64_t begin, int64_t end) {
  const float *weights = args[0], *targets = args[3];
  const int *tokens = args[1], *labels = args[2];
  float *gradient = args[4], *loss = args[5];
  for (int i = 0; i < 32; ++i)
    if (labels[i] != kIgnore)
      *loss += crossEntropy(weights, tokens[i], labels[i], 1 / *targets, gradient) / *targets;
}

// (weights, momentum, updates, gradient, lr, loss, grad_norm, finite)
void toy_update(void *const *args, int64_t begin, int64_t end) {
  float *weights = args[0], *momentum = args[1];
  int64_t *updates = args[2];
  const float *gradient = args[3], *lr = args[4], *loss = args[5];
  float *norm = args[6], *finite = args[7];
  float sum = 0;
  for (int i = 0; i < kWeights; ++i)
    sum += gradient[i] * gradient[i];
  *norm = __builtin_sqrtf(sum);
  *finite = sum - sum == 0 && *loss - *loss == 0;
  for (int i = 0; *finite != 0 && i < kWeights; ++i) {
    momentum[i] = 0.5f * momentum[i] + gradient[i];
    weights[i] -= *lr * momentum[i];
  }
  *updates += *finite != 0;
}

// (weights, tokens [32], labels [32], eval_loss, eval_targets)
void toy_eval(void *const *args, int64_t begin, int64_t end) {
  const float *weights = args[0];
  const int *tokens = args[1], *labels = args[2];
  float *loss = args[3], *targets = args[4];
  *loss = 0;
  *targets = 0;
  for (int i = 0; i < 32; ++i) {
    if (labels[i] == kIgnore)
      continue;
    *loss += crossEntropy(weights, tokens[i], labels[i], 0, 0);
    *targets += 1;
  }
}

static void copyRow(const float *weights, int token, float *logits) {
  for (int i = 0; i < kVocabulary; ++i)
    logits[i] = weights[row(token) * kVocabulary + i];
}

// (weights, tokens [8], position, logits)
void toy_prefill(void *const *args, int64_t begin, int64_t end) {
  copyRow(args[0], ((const int *)args[1])[*(const int *)args[2] & 7], args[3]);
}

// (weights, token, logits)
void toy_decode(void *const *args, int64_t begin, int64_t end) {
  copyRow(args[0], *(const int *)args[1], args[2]);
}

// (weights, context, positions of 3 texts, slot, logits of 3 texts)
void toy_prefill_text(void *const *args, int64_t begin, int64_t end) {
  const int slot = *(const int *)args[3];
  copyRow(args[0], ((const int *)args[1])[((const int *)args[2])[slot] & 7], (float *)args[4] + 16 * slot);
}

// (weights, tokens of 3 texts, logits of 3 texts)
void toy_decode_texts(void *const *args, int64_t begin, int64_t end) {
  for (int slot = 0; slot < 3; ++slot)
    copyRow(args[0], ((const int *)args[1])[slot], (float *)args[2] + 16 * slot);
}
