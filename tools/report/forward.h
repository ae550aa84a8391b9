// Which instructions of an entry are the forward: what the loss is computed from.
#pragma once

#include "tools/report/moments.h"

#include <vector>

namespace trainc::report {

/// For each moment of a verified entry whether the loss of a step that trainrun reads depends on what it
/// writes. In an entry that computes none, such as eval, no moment does.
std::vector<bool> forwardOf(const fb::Plan &plan, const std::vector<Moment> &moments);

} // namespace trainc::report
