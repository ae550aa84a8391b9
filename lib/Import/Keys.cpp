#include "lib/Import/Keys.h"

#include "lib/Import/Text.h"

#include <algorithm>
#include <cmath>

namespace trainc::importer {

std::string activationOf(Config &config, std::string_view key, std::string_view fallback) {
  const std::string name = config.word(key, fallback);
  if (name == "gelu")
    return "nn.gelu %x";
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast")
    return "nn.gelu %x approximate tanh";
  if (name == "silu" || name == "swish")
    return "nn.silu %x";
  if (name == "relu")
    return "nn.relu %x";
  config.fail(
      fmt::format("'{}': expected gelu, gelu_new, gelu_pytorch_tanh, gelu_fast, silu, swish or relu, found "
                  "{}",
                  key, printable(name)));
  return "nn.relu %x";
}

int64_t readLayers(Config &config, std::string_view key, int64_t fallback) {
  constexpr int64_t kMaxLayers = 4096;
  const int64_t count = config.size(key, fallback);
  if (count > kMaxLayers)
    config.fail(fmt::format("'{}': expected at most {} layers, found {}", key, kMaxLayers, count));
  return std::min(count, kMaxLayers);
}

void requireNoDropout(Config &config, std::string_view key, double fallback, std::string_view what) {
  if (const double p = config.dropout(key, fallback); p != 0)
    config.fail(fmt::format(
        "'{}' is {}: dropout of {} is not supported; give --no-dropout, which leaves out all dropout", key, p,
        what));
}

void readLabels(Config &config, Task task, Head &head) {
  // The list of names counts, as in transformers.
  const std::optional<int64_t> named = config.entries("id2label");
  config.entries("label2id");
  if (named)
    config.require("num_labels", *named, "'id2label' has another number of classes");
  head.outputs = named ? *named : config.size("num_labels", 2);
  if (head.outputs == 0)
    config.fail("'id2label': expected a name for each class, found none");
  if (task == Task::TokenClassification)
    return; // the classes compute a cross-entropy whatever problem_type says
  const std::string key = "problem_type";
  const std::string problem = config.has(key)     ? config.word(key, "")
                              : head.outputs == 1 ? "regression"
                                                  : "single_label_classification";
  if (problem == "regression")
    head.loss = Head::SquaredError;
  else if (problem == "multi_label_classification")
    head.loss = Head::BinaryCrossEntropy;
  else if (problem != "single_label_classification" || head.outputs == 1)
    config.fail(fmt::format("'{}' is {} with {} labels; expected regression, multi_label_classification, or "
                            "single_label_classification with at least 2",
                            key, printable(problem), head.outputs));
}

/// Adds the scaling of Phi-3 for texts of at most as many positions as those of pretraining. Longer ones need
/// the other list, `long_factor`, for all positions.
static void addLongRope(Config &config, const std::string &scope, const RopeDefaults &defaults, Rope &rope) {
  const auto key = [&](const char *name) { return scope + "." + name; };
  // The key outside of the object wins, as in transformers, also by its class default.
  const std::string outer = "original_max_position_embeddings";
  const int64_t inner = config.size(key(outer.c_str()), defaults.maxPositions);
  const double original =
      double(config.has(outer) || defaults.originalPositions ? config.size(outer, defaults.originalPositions)
                                                             : inner);
  const double factor =
      config.has(key("factor")) ? config.number(key("factor")) : double(defaults.maxPositions) / original;
  const double attention = config.has(key("attention_factor")) ? config.number(key("attention_factor"))
                           : factor <= 1 || original <= 1
                               ? 1
                               : std::sqrt(1 + std::log(factor) / std::log(original));
  std::string factors;
  for (const double each : config.numbers(key("short_factor")))
    factors += (factors.empty() ? "" : ", ") + numberText(each);
  config.numbers(key("long_factor"));
  rope.scaling = fmt::format("longrope(factors [{}], attention_factor {})", factors, numberText(attention));
  rope.maxLength = int64_t(original);
}

/// Returns the factor on cosines and sines that YaRN derives from `key`; 0 if the key is missing, null or 0.
static double readMscale(Config &config, const std::string &scope, const std::string &key) {
  const std::string name = scope + "." + key;
  const double share = config.has(name) ? config.number(name) : 0;
  const double factor = config.number(scope + ".factor");
  return share == 0 ? 0 : factor <= 1 ? 1 : 0.1 * share * std::log(factor) + 1;
}

/// Adds the scaling whose keys are in the object `scope`.
static void addScaling(Config &config, const std::string &scope, const RopeDefaults &defaults, Rope &rope) {
  const auto key = [&](const char *name) { return scope + "." + name; };
  const std::string typeKey = config.has(key("rope_type")) ? key("rope_type") : key("type");
  const std::string type = config.word(typeKey, "default");
  if (config.has(key("type")))
    config.word(key("type"), ""); // transformers 5 writes both
  const auto number = [&](const char *name) { return numberText(config.number(key(name))); };
  if (type == "default")
    return;
  if (type == "linear")
    rope.scaling = fmt::format("linear(factor {})", number("factor"));
  else if (type == "llama3")
    rope.scaling = fmt::format("llama3(factor {}, low {}, high {}, original {})", number("factor"),
                               number("low_freq_factor"), number("high_freq_factor"),
                               config.size(key("original_max_position_embeddings")));
  else if (type == "yarn") {
    rope.scaling = fmt::format("yarn(factor {}, original {}", number("factor"),
                               config.size(key("original_max_position_embeddings"), defaults.maxPositions));
    for (const char *name : {"beta_fast", "beta_slow", "attention_factor"})
      if (config.has(key(name)))
        rope.scaling += fmt::format(", {} {}", name, number(name));
    const double own = readMscale(config, scope, "mscale"), all = readMscale(config, scope, "mscale_all_dim");
    if (own != 0 && all != 0 && !config.has(key("attention_factor")))
      rope.scaling += ", attention_factor " + numberText(own / all);
    if (config.has(key("truncate")) && !config.flag(key("truncate"), true))
      rope.scaling += ", untruncated";
    rope.scaling += ")";
  } else if (type == "longrope" || type == "su") {
    addLongRope(config, scope, defaults, rope);
  } else {
    config.fail(
        fmt::format("'{}' is {}, which is not supported; expected default, linear, llama3, longrope or yarn",
                    typeKey, printable(type)));
  }
}

/// Reads rotary positions whose keys, in the form of transformers 5, are in the object `scope`; else those of
/// version 4, `rope_theta` and the object `rope_scaling`.
static Rope readRopeIn(Config &config, const std::string &scope, const RopeDefaults &defaults) {
  Rope rope;
  const std::string object = config.isObject(scope) ? scope : "rope_scaling";
  const auto keyOf = [&](const std::string &key) {
    return config.has(object + "." + key) ? object + "." + key : key;
  };
  rope.theta = config.number(keyOf("rope_theta"), defaults.theta);
  config.ignore({"rope_theta"}); // the object's counts
  if (config.isObject(object))
    addScaling(config, object, defaults, rope);
  if (rope.theta <= 1)
    config.fail(fmt::format("rope_theta: expected a number above 1, found {}", rope.theta));
  const std::string shareKey = keyOf("partial_rotary_factor");
  if (!defaults.rotaryShare) {
    config.require(shareKey, 1.0, "this family rotates whole heads");
    return rope;
  }
  const double share = config.number(shareKey, *defaults.rotaryShare);
  const auto rotary = int64_t(double(defaults.headWidth) * std::clamp(share, 0.0, 1.0));
  if (share <= 0 || share > 1 || rotary < 2 || rotary % 2 != 0)
    config.fail(
        fmt::format("'{}' is {}: of {} numbers of a head {} would be rotated; expected an even number, at "
                    "least 2",
                    shareKey, share, defaults.headWidth, rotary));
  else if (rotary != defaults.headWidth)
    rope.rotary = rotary;
  return rope;
}

Rope readRope(Config &config, const RopeDefaults &defaults) {
  return readRopeIn(config, "rope_parameters", defaults);
}

Rope readRopeOfLayers(Config &config, std::string_view type, const RopeDefaults &defaults) {
  const std::string scope = fmt::format("rope_parameters.{}", type);
  if (!config.isObject(scope) && !config.has("rope_scaling.rope_type"))
    config.require("rope_scaling.type", "default",
                   "transformers 5 ignores it in this family; write 'rope_type' in its place");
  return readRopeIn(config, scope, defaults);
}

void useEqualLayers(Layers &model, int64_t count, std::optional<Rope> rope, std::optional<int64_t> window) {
  model.kinds = {{"layer", std::move(rope), window}};
  model.layers.assign(size_t(count), 0);
}

Attention readHeads(Config &config, std::string_view key, int64_t width, int64_t fallback) {
  Attention attention;
  attention.heads = attention.keyHeads = config.size(key, fallback);
  attention.headWidth = std::max<int64_t>(width / attention.heads, 1);
  if (width % attention.heads != 0)
    config.fail(fmt::format("{} heads do not divide a width of {}", attention.heads, width));
  return attention;
}

void checkHeads(Config &config, const Attention &attention) {
  if (attention.heads % attention.keyHeads != 0)
    config.fail(fmt::format("{} heads do not share {} heads of keys and values evenly", attention.heads,
                            attention.keyHeads));
}

} // namespace trainc::importer
