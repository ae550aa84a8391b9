#include "lib/Import/DecoderText.h"

#include "lib/Import/DecoderSizes.h"
#include "lib/Import/Text.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc::importer {

int64_t Decoder::parameters() const {
  const auto linear = [](int64_t in, int64_t out, bool bias) { return in * out + (bias ? out : 0); };
  const int64_t normSize = norm.kind == Norm::Layer ? 2 : 1;
  int64_t layer = linear(width, attention.queryWidth() + 2 * attention.keyWidth(), attention.hasBias) +
                  linear(attention.queryWidth(), width, attention.hasOutputBias);
  layer += linear(width, mlp.width * (mlp.gate.empty() && !mlp.packsGate ? 1 : 2), mlp.hasBias) +
           linear(mlp.width, width, mlp.hasBias);
  for (const std::string *scope : {&norms.attention, &norms.attentionOut, &norms.mlp, &norms.mlpOut})
    layer += scope->empty() ? 0 : normSize * width;
  if (attention.headNorms == Attention::EachHead)
    layer += normSize * 2 * attention.headWidth;
  if (attention.headNorms == Attention::OwnWeights)
    layer += attention.queryWidth() + attention.keyWidth();
  if (attention.headNorms == Attention::AllHeads)
    layer += attention.queryWidth() + attention.keyWidth();
  return vocabulary * width * (isTied ? 1 : 2) + (hasHeadBias ? vocabulary : 0) +
         (positions ? positions->count * width : 0) + int64_t(layers.size()) * layer +
         normSize * width * (embeddingNorm.empty() ? 1 : 2);
}

namespace {

/// Writes the text of one decoder.
class Writer {
public:
  Writer(const Decoder &decoder, const nlohmann::json &config) : decoder_(decoder), config_(config) {}

  std::string write();

private:
  void block(const LayerKind &kind);
  std::string attention(const LayerKind &kind, const std::string &input);
  std::string mlp(const std::string &input);
  std::string heads(const std::string &name, const std::string &scope, const LayerKind &kind, int64_t count);
  std::string headNorm(const std::string &name, const std::string &scope, int64_t count);
  void residual(const std::string &result, const std::string &input, std::string branch,
                const std::string &norm, const std::string &dropout);
  void model();
  void layers(const std::string &input);
  void program();

  std::string norm(const std::string &scope, const std::string &input) const;
  std::string linear(const std::string &scope, const std::string &input, int64_t features, bool bias,
                     bool inOut) const;
  std::string init() const;
  void scaled(std::string &value, const std::string &name, double factor, const char *op = "mul");

  const Decoder &decoder_;
  const nlohmann::json &config_;
  Text text_;
};

} // namespace

// --- Parts ---

std::string Writer::norm(const std::string &scope, const std::string &input) const {
  const Norm &norm = decoder_.norm;
  const std::string eps = norm.epsilon == 1e-5 ? "" : " eps " + numberText(norm.epsilon);
  switch (norm.kind) {
  case Norm::Layer:
    return fmt::format("nn.layer_norm \"{}\" {}{}", scope, input, eps);
  case Norm::RmsOffsetOne:
    return fmt::format("nn.rms_norm \"{}\" {}{} zero_centered", scope, input, eps);
  case Norm::Rms:
    break;
  }
  return fmt::format("nn.rms_norm \"{}\" {}{}", scope, input, eps);
}

/// The clause of initial weights, which is left out where it is the language's default.
std::string Writer::init() const {
  return decoder_.initialRange == 0.02 ? ""
                                       : fmt::format(" init normal({})", numberText(decoder_.initialRange));
}

std::string Writer::linear(const std::string &scope, const std::string &input, int64_t features, bool bias,
                           bool inOut) const {
  return fmt::format("nn.linear \"{}\" {} to {}{}{}{}", scope, input, features, inOut ? " layout in_out" : "",
                     bias ? "" : " no_bias", init());
}

/// Multiplies `value` by `factor` (or divides it: `op`), as `name`, unless it is 1.
void Writer::scaled(std::string &value, const std::string &name, double factor, const char *op) {
  if (factor == 1)
    return;
  text_.line("{}_scale = nn.constant {}", name, numberText(factor));
  text_.line("{}_scaled = nn.{} {}, {}_scale", name, op, value, name);
  value = name + "_scaled";
}

/// Norms the heads of q or k.
std::string Writer::headNorm(const std::string &name, const std::string &scope, int64_t count) {
  const Attention &attention = decoder_.attention;
  const std::string result = name + "n";
  const bool hasHeadsClause = decoder_.norm.kind != Norm::Layer;
  if (attention.headNorms == Attention::OwnWeights) {
    std::vector<std::string> parts, normed;
    for (int64_t head = 0; head < count; ++head) {
      parts.push_back(fmt::format("{}_{}", name, head));
      normed.push_back(parts.back() + "n");
    }
    text_.line("{} = nn.split {} into {}", fmt::join(parts, ", "), name, count);
    for (int64_t head = 0; head < count; ++head)
      text_.line("{} = {} no_bias", normed[size_t(head)],
                 norm(fmt::format("{}.norms.{}", scope, head), parts[size_t(head)]));
    text_.line("{} = nn.concat dim 2 {}", result, fmt::join(normed, ", "));
  } else if (attention.headNorms == Attention::EachHead && !hasHeadsClause) {
    text_.line("{}_heads = nn.reshape {} to [0, 0, {}, {}]", name + "n", name, count, attention.headWidth);
    text_.line("{}_normed = {}", name + "n", norm(scope, name + "n_heads"));
    text_.line("{} = nn.reshape {}_normed to [0, 0, {}]", result, name + "n", count * attention.headWidth);
  } else {
    text_.line("{} = {}{}", result, norm(scope, name),
               attention.headNorms == Attention::EachHead ? fmt::format(" heads {}", count) : "");
  }
  return result;
}

/// Norms and rotates the heads of q or k.
std::string Writer::heads(const std::string &name, const std::string &scope, const LayerKind &kind,
                          int64_t count) {
  const Attention &attention = decoder_.attention;
  std::string value = name;
  if (attention.headNorms != Attention::None)
    value = headNorm(name, scope, count);
  if (!kind.rope)
    return value;
  const Rope &rope = *kind.rope;
  text_.line("{}r = nn.rope {} positions %positions heads {} theta {}{}{}", name, value, count,
             numberText(rope.theta),
             rope.rotary == 0 || rope.rotary == attention.headWidth ? ""
                                                                    : fmt::format(" rotary {}", rope.rotary),
             rope.scaling.empty() ? "" : " scaling " + rope.scaling);
  return name + "r";
}

std::string Writer::attention(const LayerKind &kind, const std::string &input) {
  const Attention &attention = decoder_.attention;
  const int64_t query = attention.queryWidth(), key = attention.keyWidth();
  switch (attention.packing) {
  case Attention::Separate:
    text_.line("%q = {}", linear(attention.query, input, query, attention.hasBias, decoder_.inOut));
    text_.line("%k = {}", linear(attention.key, input, key, attention.hasBias, decoder_.inOut));
    text_.line("%v = {}", linear(attention.value, input, key, attention.hasBias, decoder_.inOut));
    break;
  case Attention::Rows:
    text_.line("%qkv = {}",
               linear(attention.query, input, query + 2 * key, attention.hasBias, decoder_.inOut));
    if (query == key)
      text_.line("%q, %k, %v = nn.split %qkv into 3");
    else
      text_.line("%q, %k, %v = nn.split %qkv into [{}, {}, {}]", query, key, key);
    break;
  case Attention::PerHead: {
    const int64_t heads = attention.keyHeads, width = attention.headWidth, group = attention.heads / heads;
    text_.line("%qkv = {}",
               linear(attention.query, input, query + 2 * key, attention.hasBias, decoder_.inOut));
    text_.line("%by_head = nn.reshape %qkv to [0, 0, {}, {}]", heads, (group + 2) * width);
    if (group == 1)
      text_.line("%q_heads, %k_heads, %v_heads = nn.split %by_head into 3");
    else
      text_.line("%q_heads, %k_heads, %v_heads = nn.split %by_head into [{}, {}, {}]", group * width, width,
                 width);
    text_.line("%q = nn.reshape %q_heads to [0, 0, {}]", query);
    text_.line("%k = nn.reshape %k_heads to [0, 0, {}]", key);
    text_.line("%v = nn.reshape %v_heads to [0, 0, {}]", key);
    break;
  }
  }
  const std::string q = heads("%q", attention.queryNorm, kind, attention.heads);
  const std::string k = heads("%k", attention.keyNorm, kind, attention.keyHeads);
  std::string clauses = fmt::format("heads {}", attention.heads);
  if (attention.keyHeads != attention.heads)
    clauses += fmt::format(" kv_heads {}", attention.keyHeads);
  clauses += " causal";
  if (kind.window)
    clauses += fmt::format(" window {}", *kind.window);
  if (attention.scale)
    clauses += " scale " + numberText(*attention.scale);
  if (attention.softcap)
    clauses += " softcap " + numberText(*attention.softcap);
  if (attention.alibi)
    clauses += " alibi " + numberText(*attention.alibi);
  if (const double p = decoder_.dropout.attention; p > 0) {
    text_.line("%key = nn.dropout_key \"attn.weights_dropout\"");
    clauses += fmt::format(" dropout {} dropout_key %key", numberText(p));
  }
  text_.line("%heads, %lse = nn.attention {}, {}, %v {}", q, k, clauses);
  text_.line("%a = {}",
             linear(attention.output, "%heads", decoder_.width, attention.hasOutputBias, decoder_.inOut));
  return "%a";
}

std::string Writer::mlp(const std::string &input) {
  const Mlp &mlp = decoder_.mlp;
  const auto activation = [&](const std::string &operand) {
    std::string text = mlp.activation;
    text.replace(text.find("%x"), 2, operand);
    return text;
  };
  if (mlp.packsGate) {
    text_.line("%gate_up = {}", linear(mlp.up, input, 2 * mlp.width, mlp.hasBias, decoder_.inOut));
    text_.line("%gate, %up = nn.split %gate_up into 2");
  } else if (!mlp.gate.empty()) {
    text_.line("%gate = {}", linear(mlp.gate, input, mlp.width, mlp.hasBias, decoder_.inOut));
    text_.line("%up = {}", linear(mlp.up, input, mlp.width, mlp.hasBias, decoder_.inOut));
  } else {
    text_.line("%up = {}", linear(mlp.up, input, mlp.width, mlp.hasBias, decoder_.inOut));
  }
  if (mlp.packsGate || !mlp.gate.empty()) {
    text_.line("%act = {}", activation("%gate"));
    text_.line("%h = nn.mul %act, %up");
  } else {
    text_.line("%h = {}", activation("%up"));
  }
  text_.line("%m = {}", linear(mlp.down, "%h", decoder_.width, mlp.hasBias, decoder_.inOut));
  return "%m";
}

/// Adds a branch to the residual stream `input`.
void Writer::residual(const std::string &result, const std::string &input, std::string branch,
                      const std::string &scope, const std::string &dropout) {
  if (!scope.empty()) {
    text_.line("{}n = {}", branch, norm(scope, branch));
    branch += "n";
  }
  if (decoder_.dropout.residual > 0) {
    text_.line("{}d = nn.dropout \"{}\" {} p {}", branch, dropout, branch,
               numberText(decoder_.dropout.residual));
    branch += "d";
  }
  scaled(branch, branch, decoder_.residualScale);
  text_.line("{} = nn.add {}, {}", result, input, branch);
}

void Writer::block(const LayerKind &kind) {
  text_.line("nn.block @{}(%x: tensor<?x?x{}xf32>{}) {{", kind.name, decoder_.width,
             decoder_.usesRope() ? ", %positions: tensor<?xi32>" : "");
  text_.indent();
  std::string input = "%x";
  if (!decoder_.norms.attention.empty()) {
    text_.line("%n1 = {}", norm(decoder_.norms.attention, "%x"));
    input = "%n1";
  }
  const std::string a = attention(kind, input);
  residual("%y", decoder_.continuesFromNorms ? input : "%x", a, decoder_.norms.attentionOut, "attn.dropout");
  text_.blank();

  const std::string stream = decoder_.isParallel ? "%x" : "%y";
  if (!decoder_.norms.mlp.empty()) {
    text_.line("%n2 = {}", norm(decoder_.norms.mlp, stream));
    input = "%n2";
  } else if (!decoder_.isParallel) {
    input = stream;
  }
  residual("%z", decoder_.continuesFromNorms ? input : "%y", mlp(input), decoder_.norms.mlpOut,
           "mlp.dropout");
  text_.line("nn.return %z");
  text_.dedent();
  text_.line("}}");
  text_.blank();
}

// --- The model ---

/// The shortest sequence of kinds that, repeated, gives all layers.
static std::vector<size_t> periodOf(const std::vector<size_t> &layers) {
  size_t period = 1;
  const auto repeats = [&] {
    for (size_t index = period; index < layers.size(); ++index)
      if (layers[index] != layers[index - period])
        return false;
    return true;
  };
  while (!repeats())
    ++period;
  return {layers.begin(), layers.begin() + std::ptrdiff_t(std::min(period, layers.size()))};
}

/// Applies the layers to `input`; the result is `%h`.
void Writer::layers(const std::string &input) {
  std::string blocks;
  for (const size_t kind : periodOf(decoder_.layers))
    blocks += fmt::format("{}@{}", blocks.empty() ? "" : ", ", decoder_.kinds[kind].name);
  text_.line("%h = nn.repeat {} \"{}\" times {} ({}{})", blocks, decoder_.layerScope, decoder_.layers.size(),
             input, decoder_.usesRope() ? ", %positions" : "");
}

void Writer::model() {
  text_.line("nn.model @{}(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>)", decoder_.family);
  text_.line("    export \"config.json\" {{");
  text_.raw(exportText(config_, 6));
  text_.line("    }} {{");
  text_.indent();
  std::string x = "%x";
  if (decoder_.usesRope() || decoder_.positions)
    text_.line("%positions = nn.positions %tokens");
  text_.line("%x = nn.embedding \"{}\" %tokens of {} by {}{}", decoder_.embedding, decoder_.vocabulary,
             decoder_.width, init());
  scaled(x, "%x", decoder_.embeddingScale);
  if (!decoder_.embeddingNorm.empty()) {
    text_.line("%xn = {}", norm(decoder_.embeddingNorm, x));
    x = "%xn";
  }
  if (const auto &table = decoder_.positions) {
    std::string rows = "%positions";
    if (table->first != 0) {
      text_.line("%first = nn.constant {} : tensor<i32>", table->first);
      text_.line("%rows = nn.add %positions, %first");
      rows = "%rows";
    }
    text_.line("%p = nn.embedding \"{}\" {} of {} by {}{}", table->scope, rows, table->count, decoder_.width,
               init());
    text_.line("%xp = nn.add {}, %p", x);
    x = "%xp";
  }
  if (decoder_.dropout.embedding > 0) {
    text_.line("%xd = nn.dropout \"drop\" {} p {}", x, numberText(decoder_.dropout.embedding));
    x = "%xd";
  }
  layers(x);
  text_.line("%n = {}", norm(decoder_.finalNorm, "%h"));
  std::string logits = "%logits";
  if (decoder_.isTied)
    text_.line("%logits = nn.linear \"{}\" %n tied \"{}.weight\"{}", decoder_.head, decoder_.embedding,
               decoder_.hasHeadBias ? "" : " no_bias");
  else
    text_.line("%logits = {}", linear(decoder_.head, "%n", decoder_.vocabulary, decoder_.hasHeadBias, false));
  scaled(logits, "%logits", decoder_.logitsScale, "div");
  if (decoder_.logitsSoftcap) {
    text_.line("%cap = nn.constant {}", numberText(*decoder_.logitsSoftcap));
    text_.line("%shares = nn.div {}, %cap", logits);
    text_.line("%bounded = nn.tanh %shares");
    text_.line("%capped = nn.mul %bounded, %cap");
    logits = "%capped";
  }
  text_.line("nn.output \"logits\" {}", logits);
  text_.line("%nll, %lse = nn.cross_entropy {}, %labels", logits);
  text_.line("nn.loss \"loss\" %nll");
  text_.dedent();
  text_.line("}}");
  text_.blank();
}

/// A program that fine-tunes: users change it, or give options.
void Writer::program() {
  constexpr int64_t kUsualLength = 1024;
  text_.line("train.program @finetune {{");
  text_.indent();
  text_.line("model @{}", decoder_.family);
  text_.line("optimizer adamw(lr 2e-5, beta2 0.95, weight_decay 0.1)");
  text_.line("schedule cosine(warmup 10, minimum 2e-6)");
  text_.line("clip 1.0");
  text_.line("batch 1 x {}", std::min(decoder_.maxPositions, kUsualLength));
  text_.line("steps 100");
  text_.dedent();
  text_.line("}}");
}

/// Returns 1234567890 as "1.23 billion".
static std::string inWords(int64_t count) {
  if (count >= 1'000'000'000)
    return fmt::format("{:.3g} billion", double(count) / 1e9);
  if (count >= 1'000'000)
    return fmt::format("{:.3g} million", double(count) / 1e6);
  return fmt::format("{}", count);
}

std::string Writer::write() {
  const Attention &attention = decoder_.attention;
  text_.line("// {} with {} parameters, imported from its config.json: {} layers of width {},",
             decoder_.architecture, inWords(decoder_.parameters()), decoder_.layers.size(), decoder_.width);
  text_.line("// {} heads of width {}{}, vocabulary {}.", attention.heads, attention.headWidth,
             attention.keyHeads == attention.heads
                 ? ""
                 : fmt::format(" that share {} heads of keys and values", attention.keyHeads),
             decoder_.vocabulary);
  for (const LayerKind &kind : decoder_.kinds)
    if (kind.rope && kind.rope->maxLength) {
      text_.line("// Positions are scaled as for texts of at most {} tokens.", *kind.rope->maxLength);
      break;
    }
  text_.line("// Parameters have the names and layouts of its weights: trainrun --init=FOLDER reads them.");
  text_.blank();
  for (size_t kind = 0; kind < decoder_.kinds.size(); ++kind)
    if (std::ranges::find(decoder_.layers, kind) != decoder_.layers.end())
      block(decoder_.kinds[kind]);
  model();
  program();
  return text_.take();
}

std::string decoderText(const Decoder &decoder, const nlohmann::json &config) {
  return sizesOf(decoder).apply(Writer(decoder, config).write());
}

} // namespace trainc::importer
