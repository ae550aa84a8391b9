// Rates that cluster files may leave out, for plans that need none of them.
#pragma once

#include "runtime/base/status.h"
#include "runtime/cost/cluster_file.h"
#include "runtime/schema/plan_generated.h"

namespace trainc {

/// Fails (kInvalidInput), naming the field of cluster files, if a training step of a verified plan moves
/// bytes to or from a disk, a host or another node, and the cluster has no rate of that.
Status requireRates(const fb::Plan &plan, const Cluster &cluster);

} // namespace trainc
