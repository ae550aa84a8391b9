// Checks for rates that cluster files may omit if a plan does not need them.
#pragma once

#include "base/status.h"
#include "plan/cost/cluster_file.h"
#include "plan/schema/plan_generated.h"

namespace trainc {

/// Fails with kInvalidInput, naming the field of cluster files, if a training step of a verified plan moves
/// bytes to or from a disk, a host or another node and the cluster has no rate for it.
Status requireRates(const fb::Plan &plan, const Cluster &cluster);

} // namespace trainc
