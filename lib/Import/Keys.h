// Readers of keys that the configs of many families share.
#pragma once

#include "base/plain_text.h"
#include "lib/Import/Config.h"
#include "lib/Import/Head.h"
#include "lib/Import/Layers.h"

#include <string>

namespace trainc::importer {

/// Reads the name of an activation. Returns its op, in the form of Mlp::activation.
std::string activationOf(Config &config, std::string_view key);

/// Reads the number of layers. More than 4096 are an error: nobody would read or compile such a text.
int64_t readLayers(Config &config, std::string_view key);

/// Fails if the probability `key` of a dropout that the model language lacks is not 0, unless the text gets
/// no dropout at all. `what` says in the message what is dropped.
void requireNoDropout(Config &config, std::string_view key, std::string_view what);

/// Reads the number of classes from `id2label` or `num_labels`, and the loss from `problem_type`. This key
/// does not apply to token classifiers, whose loss is a cross-entropy.
void readLabels(Config &config, Task task, Head &head);

/// Names of the keys of rotary positions in configs of transformers 4, which differ between classes, and
/// sizes on which the positions depend.
struct RopeKeys {
  int64_t headWidth = 1, maxPositions = 1;
  std::string theta = "rope_theta";
  /// Key of the share of each head that is rotated. A class without a default for the key rotates whole
  /// heads.
  std::string share = "partial_rotary_factor";
  std::string scaling = "rope_scaling"; ///< empty: these layers have no scaling
};

/// Returns the name of the object that has the keys of rotary positions: `scope` in configs of transformers
/// 5, or `scaling` in those of version 4.
std::string ropeObject(const Config &config, const std::string &scope = "rope_parameters",
                       const std::string &scaling = "rope_scaling");

/// Reads `rope_parameters` of transformers 5, or the keys of version 4.
Rope readRope(Config &config, const RopeKeys &keys);

/// Reads the rotary positions of layers of `type`, such as "full_attention", from the object of that name in
/// `rope_parameters`. If there is none, reads the keys of version 4.
Rope readRopeOfLayers(Config &config, std::string_view type, const RopeKeys &keys);

/// Gives the model `count` equal layers.
void useEqualLayers(Layers &model, int64_t count, std::optional<Rope> rope,
                    std::optional<int64_t> window = std::nullopt);

/// Gives the model layers of two kinds. `isOther(i)` says whether layer `i` is of the second kind.
template <typename IsOther>
void useLayersOfTwoKinds(Layers &model, int64_t count, LayerKind one, LayerKind other, IsOther isOther) {
  model.kinds = {std::move(one), std::move(other)};
  for (int64_t index = 0; index < count; ++index)
    model.layers.push_back(isOther(index) ? 1 : 0);
}

/// Reads `layer_types`. Returns whether each of `count` layers has a window. Without the key, `usual(i)`
/// decides.
template <typename Usual> std::vector<bool> readSlidingLayers(Config &config, int64_t count, Usual usual) {
  const auto types = config.words("layer_types");
  if (types && int64_t(types->size()) != count)
    config.fail(fmt::format("'layer_types' has {} entries for {} layers", types->size(), count));
  for (const std::string &type : types.value_or(std::vector<std::string>()))
    if (type != "sliding_attention" && type != "full_attention")
      config.fail(
          fmt::format("'layer_types' has {}; expected full_attention or sliding_attention", printable(type)));
  std::vector<bool> slides;
  for (int64_t index = 0; index < count; ++index)
    slides.push_back(types && index < int64_t(types->size()) ? (*types)[size_t(index)] == "sliding_attention"
                                                             : usual(index));
  return slides;
}

/// Reads the number of heads of attention in which each head has keys of its own. It must divide `width`.
Attention readHeads(Config &config, std::string_view key, int64_t width);

/// Fails unless the number of heads is a multiple of the number of key heads.
void checkHeads(Config &config, const Attention &attention);

} // namespace trainc::importer
