// A plan that really trains, evaluates and generates, made by hand: the bigram model of toy_kernels.c.
#pragma once

#include "test/unit/plan/plans/plan_builder.h"

namespace trainc::test {

inline constexpr uint64_t kToyVocabulary = 16, kToyLength = 8, kToyMicroBatch = 4, kToyAccumulate = 2;
inline constexpr uint64_t kToyWeights = kToyVocabulary * kToyVocabulary;
inline constexpr uint64_t kToyMicroTokens = kToyMicroBatch * kToyLength;

/// Parameter "wte.weight" [16, 16], optimizer states "exp_avg.wte.weight" and "updates" (i64). A step takes 2
/// micro-batches of 4 samples of 8 tokens below 16; evaluation takes 4 samples; generation has a context of 8
/// tokens. Labels of -100 are ignored. Constant learning rate 0.5; the export is config.json.
PlanBuilder toyPlan();

inline constexpr uint64_t kToyTexts = 3;
/// The same plan, but it generates kToyTexts texts at once.
PlanBuilder toyPlanOfTexts();

/// Micro-batches of a step over all ranks, in plans of several.
inline constexpr uint64_t kToyMicroBatches = 12;

/// The same model on `ranks` ranks, which divide the 12 micro-batches of a step; both must divide it. Of each
/// `shardRanks` ranks each keeps a part of the weights and of the momentum, which are gathered before they
/// are used.
PlanBuilder toyPlan(uint32_t ranks, uint32_t shardRanks);

/// One of these plans for GPUs; not one that lingers.
PlanBuilder toyOnCuda(PlanBuilder toyPlan);

/// Adds some 5 ms of work to each micro-batch, so that a run spends nearly all of its time within steps.
void linger(PlanBuilder &toyPlan);

} // namespace trainc::test
