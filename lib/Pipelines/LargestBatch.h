// `--largest-batch`: how many samples a memory limit allows at once, by what the backward computes again.
#pragma once

#include "lib/Pipelines/Strategies.h"

namespace trainc {

/// Of each activation checkpointing (none, selective, and full with what is cheap outside of blocks computed
/// again, too) the largest micro-batch whose plan, with what a rank needs besides, has at most `limit` bytes,
/// and needs no more of the host than that may give. All other settings are those of the program of `model`
/// (phase `model`), which has the settings of `options`, so that a step has as many micro-batches as there.
/// What has no micro-batch that fits is left out. Each is planned to the last address, and so is the one with
/// a sample more, up to as many samples as a micro-batch may have (train::kMaxBatch). Fails, with an error at
/// the program, if it has no micro-batch, and if the compiler would.
llvm::FailureOr<std::vector<PlannedStrategy>>
findLargestBatches(mlir::ModuleOp model, const CompileOptions &options, int64_t limit);

/// Of what is decided for the plan: what holds for its largest micro-batches as well, such as what is
/// offloaded.
TriedSettings sharedWithLargest(const TriedSettings &decided);

/// For people, a line each: with which activation checkpointing not one sample fits, and where the search
/// ended as a micro-batch may not have more samples.
std::string remarksOnLargestBatches(llvm::ArrayRef<PlannedStrategy> largest);

/// The limit, and these strategies.
llvm::json::Object largestBatchesJson(int64_t limit, llvm::ArrayRef<PlannedStrategy> largest);

} // namespace trainc
