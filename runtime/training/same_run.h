// Whether the ranks that a launcher started were asked for the same.
#pragma once

#include "runtime/exec/agreement.h"
#include "runtime/training/options.h"
#include "runtime/training/weights.h"

namespace trainc {

/// Compares on all ranks what decides which collectives they start, on which samples, weights and draws; see
/// checkSame(). All ranks call it once they have their weights.
Status checkSameRun(Peers &peers, const RunOptions &options, const StartingPoint &start);

} // namespace trainc
