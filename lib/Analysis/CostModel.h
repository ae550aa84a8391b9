// How long entries take, with collectives and transfers beside their instructions.
#pragma once

#include "dialects/Plan/Plan.h"
#include "runtime/cost/collective_seconds.h"
#include "runtime/cost/machine.h"

#include <cstdint>

namespace trainc {

/// What a training step takes where its streams run beside each other (runtime/cost/entry_runs.h).
struct StepSeconds {
  double total = 0;
  double communication = 0; ///< in which a collective is under way, hidden or not
  double exposed = 0;       ///< in which one is, and nothing computes
};

/// An entry, and how often a step runs it.
struct EntryInStep {
  plan::EntryOp entry;
  uint64_t runs;
};

/// `entries` are a step's, in its order, of a module that has a plan.training.
StepSeconds predictSeconds(llvm::ArrayRef<EntryInStep> entries, const Machine &machine);

/// The ranks of a group, of `ranks` in shard groups of `shardRanks`.
RankGroupShape shapeOf(RankGroup group, int64_t ranks, int64_t shardRanks);

/// Bytes that each rank sends for all ranges of a collective.
int64_t ringBytes(plan::CollectiveOp collective, plan::TrainingOp training);

/// Seconds from when all ranks have begun the collective to its end.
double collectiveSeconds(plan::CollectiveOp collective, plan::TrainingOp training, const Machine &machine);

} // namespace trainc
