#include "lib/Import/LayerText.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc::importer {

int64_t Layers::normParameters() const { return norm.parameters(width); }

int64_t Layers::layerParameters() const {
  const auto linear = [](int64_t in, int64_t out, bool bias) { return in * out + (bias ? out : 0); };
  int64_t layer = linear(width, attention.queryWidth() + 2 * attention.keyWidth(), attention.hasBias) +
                  linear(attention.queryWidth(), width, attention.hasOutputBias);
  layer += linear(width, mlp.width * (mlp.gate.empty() && !mlp.packsGate ? 1 : 2), mlp.hasBias) +
           linear(mlp.width, width, mlp.hasBias);
  for (const std::string *scope :
       {&norms.attention, &norms.attentionOut, &norms.attentionSum, &norms.mlp, &norms.mlpOut, &norms.mlpSum})
    layer += scope->empty() ? 0 : normParameters();
  if (attention.headNorms == Attention::EachHead)
    layer += 2 * norm.parameters(attention.headWidth);
  if (attention.headNorms == Attention::AllHeads || attention.headNorms == Attention::OwnWeights)
    layer += attention.queryWidth() + attention.keyWidth();
  int64_t sum = int64_t(layers.size()) * layer;
  if (!norms.attention.empty())
    for (const size_t kind : layers)
      sum -= kinds[kind].hasAttentionNorm ? 0 : normParameters();
  return sum;
}

std::string activationText(const std::string &activation, const std::string &operand) {
  std::string text = activation;
  return text.replace(text.find("%x"), 2, operand);
}

// --- Blocks ---

/// Window of layers that see the whole text, if they share a block with layers that have a shorter window. A
/// window longer than the text costs nothing.
static constexpr int64_t kWholeText = 1 << 24;

/// Name of a block that several kinds of layers use.
static const std::string kShared = "layer";

std::string LayerText::norm(const std::string &scope, const std::string &input) const {
  const Norm &norm = layers_.norm;
  const std::string eps = norm.epsilon == 1e-5 ? "" : " eps " + numberText(norm.epsilon);
  switch (norm.kind) {
  case Norm::Layer:
    return fmt::format("nn.layer_norm \"{}\" {}{}{}", scope, input, eps, norm.hasBias ? "" : " no_bias");
  case Norm::RmsOffsetOne:
    return fmt::format("nn.rms_norm \"{}\" {}{} zero_centered", scope, input, eps);
  case Norm::Rms:
    break;
  }
  return fmt::format("nn.rms_norm \"{}\" {}{}", scope, input, eps);
}

std::string LayerText::init() const {
  return layers_.initialRange == 0.02 ? ""
                                      : fmt::format(" init normal({})", numberText(layers_.initialRange));
}

std::string LayerText::linear(const std::string &scope, const std::string &input, int64_t features, bool bias,
                              bool inOut) const {
  return fmt::format("nn.linear \"{}\" {} to {}{}{}{}", scope, input, features, inOut ? " layout in_out" : "",
                     bias ? "" : " no_bias", init());
}

void LayerText::scale(std::string &value, const std::string &name, double factor, const char *op) {
  if (factor == 1)
    return;
  text_.line("{}_scale = nn.constant {}", name, numberText(factor));
  text_.line("{}_scaled = nn.{} {}, {}_scale", name, op, value, name);
  value = name + "_scaled";
}

/// Writes a norm of the heads of q or k. Returns the name of the result.
std::string LayerText::headNorm(const std::string &name, const std::string &scope, int64_t count) {
  const Attention &attention = layers_.attention;
  const std::string result = name + "n";
  const bool hasHeadsClause = layers_.norm.kind != Norm::Layer;
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
    text_.line("{}_heads = nn.reshape {} to [0, 0, {}, {}]", result, name, count, attention.headWidth);
    text_.line("{}_normed = {}", result, norm(scope, result + "_heads"));
    text_.line("{} = nn.reshape {}_normed to [0, 0, {}]", result, result, count * attention.headWidth);
  } else {
    text_.line("{} = {}{}", result, norm(scope, name),
               attention.headNorms == Attention::EachHead ? fmt::format(" heads {}", count) : "");
  }
  return result;
}

/// Writes the norm and the rotation of the heads of q or k. Returns the name of the result.
std::string LayerText::heads(const std::string &name, const std::string &scope, const LayerKind &kind,
                             int64_t count) {
  const Attention &attention = layers_.attention;
  std::string value = name;
  if (attention.headNorms != Attention::None)
    value = headNorm(name, scope, count);
  if (!kind.rope)
    return value;
  text_.line("{}r = nn.rope {} positions %positions heads {} {}", name, value, count, rope(*kind.rope));
  return name + "r";
}

/// Returns the clauses of nn.rope.
std::string LayerText::rope(const Rope &rope) const {
  std::string clauses = "theta " + (constants_.theta ? "$theta" : numberText(rope.theta));
  if (rope.rotary != 0 && rope.rotary != layers_.attention.headWidth)
    clauses += fmt::format(" rotary {}", rope.rotary);
  if (constants_.factor)
    clauses += " scaling linear(factor $factor)";
  else if (rope.linearFactor != 1)
    clauses += fmt::format(" scaling linear(factor {})", numberText(rope.linearFactor));
  else if (!rope.scaling.empty())
    clauses += " scaling " + rope.scaling;
  return clauses;
}

std::string LayerText::attention(const LayerKind &kind, const std::string &input) {
  const Attention &attention = layers_.attention;
  const int64_t query = attention.queryWidth(), key = attention.keyWidth();
  switch (attention.packing) {
  case Attention::Separate:
    text_.line("%q = {}", linear(attention.query, input, query, attention.hasBias, layers_.inOut));
    text_.line("%k = {}", linear(attention.key, input, key, attention.hasBias, layers_.inOut));
    text_.line("%v = {}", linear(attention.value, input, key, attention.hasBias, layers_.inOut));
    break;
  case Attention::Rows:
    text_.line("%qkv = {}",
               linear(attention.query, input, query + 2 * key, attention.hasBias, layers_.inOut));
    if (query == key)
      text_.line("%q, %k, %v = nn.split %qkv into 3");
    else
      text_.line("%q, %k, %v = nn.split %qkv into [{}, {}, {}]", query, key, key);
    break;
  case Attention::PerHead: {
    const int64_t heads = attention.keyHeads, width = attention.headWidth, group = attention.heads / heads;
    text_.line("%qkv = {}",
               linear(attention.query, input, query + 2 * key, attention.hasBias, layers_.inOut));
    if (heads == 1) { // all queries, then the key, then the value
      text_.line("%q, %k, %v = nn.split %qkv into [{}, {}, {}]", query, key, key);
      break;
    }
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
  if (attention.isCausal)
    clauses += " causal";
  if (constants_.window)
    clauses += " window $window";
  else if (kind.window)
    clauses += fmt::format(" window {}", *kind.window);
  if (attention.scale)
    clauses += " scale " + numberText(*attention.scale);
  if (attention.softcap)
    clauses += " softcap " + numberText(*attention.softcap);
  if (attention.alibi)
    clauses += " alibi " + numberText(*attention.alibi);
  if (attention.hasSegments)
    clauses += " segments %segments";
  if (const double p = layers_.dropout.attention; p > 0) {
    text_.line("%key = nn.dropout_key \"attn.weights_dropout\"");
    clauses += fmt::format(" dropout {} dropout_key %key", numberText(p));
  }
  text_.line("%heads, %lse = nn.attention {}, {}, %v {}", q, k, clauses);
  text_.line("%a = {}",
             linear(attention.output, "%heads", layers_.width, attention.hasOutputBias, layers_.inOut));
  return "%a";
}

std::string LayerText::mlp(const std::string &input) {
  const Mlp &mlp = layers_.mlp;
  if (mlp.packsGate) {
    text_.line("%gate_up = {}", linear(mlp.up, input, 2 * mlp.width, mlp.hasBias, layers_.inOut));
    text_.line("%gate, %up = nn.split %gate_up into 2");
  } else if (!mlp.gate.empty()) {
    text_.line("%gate = {}", linear(mlp.gate, input, mlp.width, mlp.hasBias, layers_.inOut));
    text_.line("%up = {}", linear(mlp.up, input, mlp.width, mlp.hasBias, layers_.inOut));
  } else {
    text_.line("%up = {}", linear(mlp.up, input, mlp.width, mlp.hasBias, layers_.inOut));
  }
  if (mlp.packsGate || !mlp.gate.empty()) {
    text_.line("%act = {}", activationText(mlp.activation, "%gate"));
    text_.line("%h = nn.mul %act, %up");
  } else {
    text_.line("%h = {}", activationText(mlp.activation, "%up"));
  }
  text_.line("%m = {}", linear(mlp.down, "%h", layers_.width, mlp.hasBias, layers_.inOut));
  return "%m";
}

std::string LayerText::dropout(const std::string &scope, const std::string &input, double p) {
  if (p == 0)
    return input;
  text_.line("{}d = nn.dropout \"{}\" {} p {}", input, scope, input, numberText(p));
  return input + "d";
}

/// Adds a branch to the residual stream `input`. Returns the new stream: `result`, or a norm of it. `scope`
/// and `sumScope` are those of norms of the branch and of the sum; empty: no norm.
std::string LayerText::residual(const std::string &result, const std::string &input, std::string branch,
                                const std::string &scope, const std::string &sumScope,
                                const std::string &dropoutScope) {
  if (!scope.empty()) {
    text_.line("{}n = {}", branch, norm(scope, branch));
    branch += "n";
  }
  branch = dropout(dropoutScope, branch, layers_.dropout.residual);
  scale(branch, branch, layers_.residualScale);
  text_.line("{} = nn.add {}, {}", result, input, branch);
  if (sumScope.empty())
    return result;
  text_.line("{}n = {}", result, norm(sumScope, result));
  return result + "n";
}

/// Whether two kinds of layers can share a block, because they differ in numbers alone.
static bool haveOneForm(const LayerKind &a, const LayerKind &b) {
  if (a.hasAttentionNorm != b.hasAttentionNorm || a.rope.has_value() != b.rope.has_value())
    return false;
  return !a.rope || (a.rope->rotary == b.rope->rotary && a.rope->scaling == b.rope->scaling);
}

/// Returns the kind whose block the layers of `kind` use: the first kind that can share it.
size_t LayerText::blockOf(size_t kind) const {
  for (const size_t other : layers_.layers)
    if (haveOneForm(layers_.kinds[other], layers_.kinds[kind]))
      return other;
  return kind;
}

LayerText::Constants LayerText::constantsOf(size_t block) const {
  Constants constants;
  const LayerKind &first = layers_.kinds[block];
  for (const size_t index : layers_.layers) {
    const LayerKind &kind = layers_.kinds[index];
    if (blockOf(index) != block)
      continue;
    constants.window |= kind.window != first.window;
    constants.theta |= kind.rope && kind.rope->theta != first.rope->theta;
    constants.factor |= kind.rope && kind.rope->linearFactor != first.rope->linearFactor;
  }
  return constants;
}

/// Returns the constants of a block with the numbers of `kind`, such as "<window = 512, theta = 10000>". If
/// `other` is given, leaves out the numbers that are the same for `other`.
std::string LayerText::numbersOf(const Constants &constants, const LayerKind &kind,
                                 const LayerKind *other) const {
  std::vector<std::string> numbers;
  if (constants.window && (!other || other->window != kind.window))
    numbers.push_back(fmt::format("window = {}", kind.window.value_or(kWholeText)));
  if (constants.theta && (!other || other->rope->theta != kind.rope->theta))
    numbers.push_back("theta = " + numberText(kind.rope->theta));
  if (constants.factor && (!other || other->rope->linearFactor != kind.rope->linearFactor))
    numbers.push_back("factor = " + numberText(kind.rope->linearFactor));
  return numbers.empty() ? "" : fmt::format("<{}>", fmt::join(numbers, ", "));
}

/// Returns a use of the block of a kind of layers, such as "@layer<window = 512>".
std::string LayerText::useOf(size_t kind) const {
  const LayerKind &own = layers_.kinds[kind], &block = layers_.kinds[blockOf(kind)];
  const Constants constants = constantsOf(blockOf(kind));
  return fmt::format("@{}{}", constants.any() ? kShared : block.name, numbersOf(constants, own, &block));
}

void LayerText::block(size_t index) {
  const LayerKind &kind = layers_.kinds[index];
  constants_ = constantsOf(index);
  if (constants_.window)
    text_.line("// A window of {} tokens is that of layers that see the whole text.", kWholeText);
  text_.line("nn.block @{}{}(%x: tensor<?x?x{}xf32>{}{}) {{", constants_.any() ? kShared : kind.name,
             numbersOf(constants_, kind, nullptr), layers_.width,
             !layers_.usesRope()          ? ""
             : layers_.positionsAreColumn ? ", %positions: tensor<?x?xi32>"
                                          : ", %positions: tensor<?xi32>",
             layers_.attention.hasSegments ? ", %segments: tensor<?x?xi32>" : "");
  text_.indent();
  const NormScopes &norms = layers_.norms;
  std::string input = "%x";
  if (!norms.attention.empty() && kind.hasAttentionNorm) {
    text_.line("%n1 = {}", norm(norms.attention, "%x"));
    input = "%n1";
  }
  const std::string a = attention(kind, input);
  const std::string y = residual("%y", layers_.continuesFromNorms ? input : "%x", a, norms.attentionOut,
                                 norms.attentionSum, "attn.dropout");
  text_.blank();

  const std::string stream = layers_.isParallel ? "%x" : y;
  if (!norms.mlp.empty()) {
    text_.line("%n2 = {}", norm(norms.mlp, stream));
    input = "%n2";
  } else if (!layers_.isParallel) {
    input = stream;
  }
  const std::string m = mlp(input);
  text_.line("nn.return {}", residual("%z", layers_.continuesFromNorms ? input : y, m, norms.mlpOut,
                                      norms.mlpSum, "mlp.dropout"));
  text_.dedent();
  text_.line("}}");
  text_.blank();
}

void LayerText::blocks() {
  std::vector<bool> isWritten(layers_.kinds.size());
  for (const size_t kind : layers_.layers) {
    const size_t own = blockOf(kind);
    if (!isWritten[own])
      block(own);
    isWritten[own] = true;
  }
}

/// Returns the shortest sequence of kinds whose repetition gives all layers. The last repetition may be cut
/// short.
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

void LayerText::apply(const std::string &input) {
  std::string blocks;
  for (const size_t kind : periodOf(layers_.layers))
    blocks += (blocks.empty() ? "" : ", ") + useOf(kind);
  text_.line("%h = nn.repeat {} \"{}\" times {} ({}{}{})", blocks, layers_.layerScope, layers_.layers.size(),
             input, layers_.usesRope() ? ", %positions" : "",
             layers_.attention.hasSegments ? ", %segments" : "");
}

std::string LayerText::addPositions(const LearnedPositions &table, const std::string &input) {
  std::string rows = "%positions";
  if (table.first != 0) {
    text_.line("%first = nn.constant {} : tensor<i32>", table.first);
    text_.line("%rows = nn.add %positions, %first");
    rows = "%rows";
  }
  text_.line("%p = nn.embedding \"{}\" {} of {} by {}{}", table.scope, rows, table.count, layers_.width,
             init());
  text_.line("%xp = nn.add {}, %p", input);
  return "%xp";
}

// --- The heading ---

/// Returns 1234567890 as "1.23 billion".
static std::string inWords(int64_t count) {
  if (count >= 1'000'000'000)
    return fmt::format("{:.3g} billion", double(count) / 1e9);
  if (count >= 1'000'000)
    return fmt::format("{:.3g} million", double(count) / 1e6);
  return fmt::format("{}", count);
}

void LayerText::heading(const std::string &architecture, int64_t parameters, const std::string &more) {
  const Attention &attention = layers_.attention;
  text_.line("// {} with {} parameters, imported from its config.json: {} layers of width {},", architecture,
             inWords(parameters), layers_.layers.size(), layers_.width);
  text_.line("// {} heads of width {}{}, {}.", attention.heads, attention.headWidth,
             attention.keyHeads == attention.heads
                 ? ""
                 : fmt::format(" that share {} heads of keys and values", attention.keyHeads),
             more);
  const auto scaled = std::ranges::find_if(
      layers_.kinds, [](const LayerKind &kind) { return kind.rope && kind.rope->maxLength; });
  if (scaled != layers_.kinds.end())
    text_.line("// In longer texts than {} tokens, transformers computes other queries.",
               *scaled->rope->maxLength);
  text_.line("// Parameters have the names and layouts of its weights: trainrun --init=FOLDER reads them.");
}

} // namespace trainc::importer
