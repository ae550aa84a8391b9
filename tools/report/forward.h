// Determines which instructions belong to the forward pass, from which the loss is computed.
#pragma once

#include "tools/report/moments.h"

#include <vector>

namespace trainc::report {

/// For each moment of a verified entry, whether the loss of a training step depends on its result. False for
/// all moments of an entry without a loss, such as eval.
std::vector<bool> forwardOf(const fb::Plan &plan, const std::vector<Moment> &moments);

} // namespace trainc::report
