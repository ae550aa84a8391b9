// Predicted duration of entries, in which collectives and transfers overlap with computation.
#pragma once

#include "dialects/Plan/Plan.h"
#include "plan/cost/collective_seconds.h"
#include "plan/cost/machine.h"

#include <cstdint>

namespace trainc {

/// Predicted duration of a training step whose streams overlap (plan/cost/entry_runs.h).
struct StepSeconds {
  double total = 0;
  double communication = 0; ///< time with a collective in flight, hidden or exposed
  double exposed = 0;       ///< time with a collective in flight and nothing computing
};

/// An entry, and the number of its runs per step.
struct EntryInStep {
  plan::EntryOp entry;
  uint64_t runs;
};

/// Predicts a step that consists of `entries`, in order. Their module must have a plan.training.
StepSeconds predictSeconds(llvm::ArrayRef<EntryInStep> entries, const Machine &machine);

/// Returns the shape of a group, of `ranks` in the job and `shardRanks` in a shard group.
RankGroupShape shapeOf(RankGroup group, int64_t ranks, int64_t shardRanks);

/// Returns the bytes that each rank sends for all ranges of a collective.
int64_t ringBytes(plan::CollectiveOp collective, plan::TrainingOp training);

/// Returns the seconds from the time when all ranks have started the collective to its end.
double collectiveSeconds(plan::CollectiveOp collective, plan::TrainingOp training, const Machine &machine);

} // namespace trainc
