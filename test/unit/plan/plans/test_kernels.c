// Kernels in the form that the compiler generates, for hand-made plans. Each clamps its own grid. Tiles are 256 floats.
typedef long long int64_t;

enum { kTile = 256, kTiles = 16, kRows = 4 };

static int64_t clampEnd(int64_t end, int64_t grid) { return end < grid ? end : grid; }

// out[4096] = x[4096] + y[4096]
void test_add(void *const *args, int64_t begin, int64_t end) {
  const float *x = args[0], *y = args[1];
  float *out = args[2];
  for (int64_t i = begin * kTile; i < clampEnd(end, kTiles) * kTile; ++i)
    out[i] = x[i] + y[i];
}

// out[4096] = 1 / x[4096]
void test_reciprocal(void *const *args, int64_t begin, int64_t end) {
  const float *x = args[0];
  float *out = args[1];
  for (int64_t i = begin * kTile; i < clampEnd(end, kTiles) * kTile; ++i)
    out[i] = 1.0f / x[i];
}

// In place on one chunk of a loop: x[256] *= 2
void test_double(void *const *args, int64_t begin, int64_t end) {
  float *x = args[0];
  for (int64_t i = begin * kTile; i < clampEnd(end, 1) * kTile; ++i)
    x[i] *= 2.0f;
}

// out[4][256] = table[index[4]][256] with a table of 16 rows; indices are clamped.
void test_gather(void *const *args, int64_t begin, int64_t end) {
  const float *table = args[0];
  const int *index = args[1];
  float *out = args[2];
  for (int64_t row = begin; row < clampEnd(end, kRows); ++row) {
    const int clamped = index[row] < 0 ? 0 : index[row] >= kTiles ? kTiles - 1 : index[row];
    for (int64_t i = 0; i < kTile; ++i)
      out[row * kTile + i] = table[clamped * kTile + i];
  }
}

// out[4][16] = x[4][256] y[16][256]^T
void test_matmul(void *const *args, int64_t begin, int64_t end) {
  const float *x = args[0], *y = args[1];
  float *out = args[2];
  for (int64_t row = begin; row < clampEnd(end, kRows); ++row)
    for (int64_t column = 0; column < kTiles; ++column) {
      float sum = 0;
      for (int64_t i = 0; i < kTile; ++i)
        sum += x[row * kTile + i] * y[column * kTile + i];
      out[row * kTiles + column] = sum;
    }
}

// out[64] = 512 times the tile, summed in memory of the block's own.
void test_block_memory(void *const *args, int64_t begin, int64_t end, void *shared) {
  int64_t *out = args[0];
  volatile int64_t *own = shared;
  for (int64_t tile = begin; tile < clampEnd(end, 64); ++tile) {
    for (int64_t i = 0; i < 512; ++i)
      own[i] = tile;
    out[tile] = 0;
    for (int64_t i = 0; i < 512; ++i)
      out[tile] += own[i];
  }
}

// loss[1] = x[4096][0], finite[1] = 1: a step's scalars.
void test_report(void *const *args, int64_t begin, int64_t end) {
  const float *x = args[0], *lr = args[1];
  float *loss = args[2], *finite = args[3];
  if (begin == 0 && clampEnd(end, 1) == 1) {
    *loss = x[0] * *lr;
    *finite = 1.0f;
  }
}

enum { kRankTile = 16, kRankTiles = 12 };

// out[192] = x[192] + y[192]
void test_ranks_sum(void *const *args, int64_t begin, int64_t end) {
  const float *x = args[0], *y = args[1];
  float *out = args[2];
  for (int64_t i = begin * kRankTile; i < clampEnd(end, kRankTiles) * kRankTile; ++i)
    out[i] = x[i] + y[i];
}

// out[192] = x[192] * factor[1]
void test_ranks_scale(void *const *args, int64_t begin, int64_t end) {
  const float *x = args[0], *factor = args[1];
  float *out = args[2];
  for (int64_t i = begin * kRankTile; i < clampEnd(end, kRankTiles) * kRankTile; ++i)
    out[i] = x[i] * *factor;
}

// total[1] = the sum of x[192]
void test_ranks_total(void *const *args, int64_t begin, int64_t end) {
  const float *x = args[0];
  float *total = args[1];
  if (begin > 0 || end < 1)
    return;
  *total = 0;
  for (int64_t i = 0; i < kRankTiles * kRankTile; ++i)
    *total += x[i];
}
