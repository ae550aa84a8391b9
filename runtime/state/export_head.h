// The head of a checkpoint's model, where it is another one than that of the model from which the run began.
#pragma once

#include "base/status.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

namespace trainc {

/// The labels of a head, and a config.json with them.
struct NewHead {
  uint64_t labels = 0, oldLabels = 0; ///< numbers of classes
  nlohmann::json config; ///< that of the model from which the run began, with the new head's keys
};

/// Compares two config.json, both objects: that of a checkpoint and `like`. Nothing if their classes
/// (`architectures`) and numbers of labels are equal, if one of them names no class, or if `like` is of a
/// model of pictures and texts, of which the checkpoint has the decoder of texts.
std::optional<NewHead> newHeadOf(const nlohmann::json &own, const nlohmann::json &like);

} // namespace trainc
