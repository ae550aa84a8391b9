#include "lib/Import/Keys.h"

#include "lib/Import/Text.h"

#include <algorithm>
#include <cmath>

namespace trainc::importer {

std::string activationOf(Config &config, std::string_view key) {
  const std::string name = config.word(key);
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

int64_t readLayers(Config &config, std::string_view key) {
  constexpr int64_t kMaxLayers = 4096;
  const int64_t count = config.size(key);
  if (count > kMaxLayers)
    config.fail(fmt::format("'{}': expected at most {} layers, found {}", key, kMaxLayers, count));
  return std::min(count, kMaxLayers);
}

void requireNoDropout(Config &config, std::string_view key, std::string_view what) {
  if (const double p = config.dropout(key); p != 0)
    config.fail(fmt::format(
        "'{}' is {}: dropout of {} is not supported; give --no-dropout, which leaves out all dropout", key, p,
        what));
}

void readLabels(Config &config, Task task, Head &head) {
  // The number of classes is the length of the list of names, if there is one, as in transformers.
  const std::optional<int64_t> named = config.entries("id2label");
  config.entries("label2id");
  if (named)
    config.require("num_labels", *named, "'id2label' has another number of classes");
  head.outputs = named ? *named : config.size("num_labels", 2);
  if (head.outputs == 0)
    config.fail("'id2label': expected a name for each class, found none");
  if (task == Task::TokenClassification)
    return; // token classifiers compute a cross-entropy, whatever problem_type says
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

/// Adds the scaling `longrope` of Phi-3. It has two lists of factors: one for sequences that are at most as
/// long as those of pretraining, and one for longer ones. `trainc compile` chooses by the length.
static void addLongRope(Config &config, const std::string &scope, int64_t maxPositions, Rope &rope) {
  const auto key = [&](const char *name) { return scope + "." + name; };
  // In classes with the outer key, the outer key overrides the inner one, as in transformers.
  const std::string outer = "original_max_position_embeddings", inner = scope + "." + outer;
  if (config.isKnown(outer) && config.has(inner))
    config.size(inner);
  const double original =
      double(config.isKnown(outer) ? config.size(outer) : config.sizeOr(inner, maxPositions));
  const double factor =
      config.isKnown(key("factor")) ? config.number(key("factor")) : double(maxPositions) / original;
  const double attention = config.isKnown(key("attention_factor")) ? config.number(key("attention_factor"))
                           : factor <= 1 || original <= 1
                               ? 1
                               : std::sqrt(1 + std::log(factor) / std::log(original));
  const auto list = [&](const char *name) {
    std::string factors;
    for (const double each : config.numbers(key(name)))
      factors += (factors.empty() ? "" : ", ") + numberText(each);
    return factors;
  };
  rope.scaling =
      fmt::format("longrope(short [{}], long [{}], original {}, attention_factor {})", list("short_factor"),
                  list("long_factor"), int64_t(original), numberText(attention));
}

/// Returns the factor by which YaRN multiplies cosines and sines according to `key`; 0 if the key is missing,
/// null or 0.
static double readMscale(Config &config, const std::string &scope, const std::string &key) {
  const std::string name = scope + "." + key;
  const double share = config.isKnown(name) ? config.number(name) : 0;
  const double factor = config.number(scope + ".factor");
  return share == 0 ? 0 : factor <= 1 ? 1 : 0.1 * share * std::log(factor) + 1;
}

/// Adds the scaling whose keys are in the object `scope`.
static void addScaling(Config &config, const std::string &scope, int64_t maxPositions, Rope &rope) {
  const auto key = [&](const char *name) { return scope + "." + name; };
  const std::string typeKey = config.isKnown(key("rope_type")) ? key("rope_type") : key("type");
  const std::string type = config.word(typeKey, "default");
  if (config.isKnown(key("type")))
    config.word(key("type"), ""); // transformers 5 writes both
  const auto number = [&](const char *name) { return numberText(config.number(key(name))); };
  if (type == "default")
    return;
  if (type == "linear")
    rope.linearFactor = config.number(key("factor"));
  else if (type == "llama3")
    rope.scaling = fmt::format("llama3(factor {}, low {}, high {}, original {})", number("factor"),
                               number("low_freq_factor"), number("high_freq_factor"),
                               config.size(key("original_max_position_embeddings")));
  else if (type == "yarn") {
    rope.scaling = fmt::format("yarn(factor {}, original {}", number("factor"),
                               config.sizeOr(key("original_max_position_embeddings"), maxPositions));
    for (const char *name : {"beta_fast", "beta_slow", "attention_factor"})
      if (config.isKnown(key(name)))
        rope.scaling += fmt::format(", {} {}", name, number(name));
    const double own = readMscale(config, scope, "mscale"), all = readMscale(config, scope, "mscale_all_dim");
    if (own != 0 && all != 0 && !config.isKnown(key("attention_factor")))
      rope.scaling += ", attention_factor " + numberText(own / all);
    if (config.isKnown(key("truncate")) && !config.flag(key("truncate"), true))
      rope.scaling += ", untruncated";
    rope.scaling += ")";
  } else if (type == "longrope" || type == "su") {
    addLongRope(config, scope, maxPositions, rope);
  } else {
    config.fail(
        fmt::format("'{}' is {}, which is not supported; expected default, linear, llama3, longrope or yarn",
                    typeKey, printable(type)));
  }
}

std::string ropeObject(const Config &config, const std::string &scope, const std::string &scaling) {
  // An object of version 4 in the file overrides the class's default for version 5.
  return config.has(scope) || !config.has(scaling) ? scope : scaling;
}

/// Reads rotary positions from the keys of transformers 5 in the object `scope`. If there is no such object,
/// reads the keys of version 4.
static Rope readRopeIn(Config &config, const std::string &scope, const RopeKeys &keys) {
  Rope rope;
  const std::string object = ropeObject(config, scope, keys.scaling);
  const bool isObject = config.isObject(object);
  const auto keyOf = [&](const char *inner, const std::string &outer) {
    const std::string name = fmt::format("{}.{}", object, inner);
    return isObject && config.isKnown(name) ? name : outer;
  };
  rope.theta = config.number(keyOf("rope_theta", keys.theta));
  config.ignore({keys.theta}); // the object's key overrides it
  if (isObject)
    addScaling(config, object, keys.maxPositions, rope);
  if (rope.theta <= 1)
    config.fail(fmt::format("rope_theta: expected a number above 1, found {}", rope.theta));
  const std::string shareKey = keyOf("partial_rotary_factor", keys.share);
  if (!config.hasDefault(keys.share)) {
    config.require(shareKey, 1.0, "this family rotates whole heads");
    if (keys.headWidth % 2 != 0)
      config.fail(
          fmt::format("heads have {} numbers, of which rotary positions turn pairs; expected an even number",
                      keys.headWidth));
    return rope;
  }
  const double share = config.number(shareKey);
  const auto rotary = int64_t(double(keys.headWidth) * std::clamp(share, 0.0, 1.0));
  if (share <= 0 || share > 1 || rotary < 2 || rotary % 2 != 0)
    config.fail(
        fmt::format("'{}' is {}: {} of the {} numbers of a head would be rotated; expected an even number, "
                    "at least 2",
                    shareKey, share, rotary, keys.headWidth));
  else if (rotary != keys.headWidth)
    rope.rotary = rotary;
  return rope;
}

Rope readRope(Config &config, const RopeKeys &keys) { return readRopeIn(config, "rope_parameters", keys); }

Rope readRopeOfLayers(Config &config, std::string_view type, const RopeKeys &keys) {
  const std::string scope = fmt::format("rope_parameters.{}", type);
  if (!config.isObject(scope) && !config.has("rope_scaling.rope_type"))
    config.require("rope_scaling.type", "default",
                   "transformers 5 ignores it in this family; write 'rope_type' in its place");
  return readRopeIn(config, scope, keys);
}

void useEqualLayers(Layers &model, int64_t count, std::optional<Rope> rope, std::optional<int64_t> window) {
  model.kinds = {{"layer", std::move(rope), window}};
  model.layers.assign(size_t(count), 0);
}

Attention readHeads(Config &config, std::string_view key, int64_t width) {
  Attention attention;
  attention.heads = attention.keyHeads = config.size(key);
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
