// `--largest-batch`: the maximum micro-batch within a memory limit, for several kinds of activation
// checkpointing.
#pragma once

#include "lib/Pipelines/Strategies.h"

namespace trainc {

/// Finds the largest micro-batch for each kind of activation checkpointing: none, selective, and full with
/// recomputation of cheap ops outside blocks. Its plan, with what a rank needs besides, must take at most
/// `limit` bytes and fit into the host. All other settings are those of the program of `model` (phase
/// `model`) with `options`, so that the number of micro-batches per step does not change. Kinds without a
/// micro-batch that fits are omitted. Both the largest micro-batch and the next larger one are planned
/// completely, up to train::kMaxBatch samples. Fails with an error at the program if it has no micro-batch,
/// and with the errors of a compilation.
llvm::FailureOr<std::vector<PlannedStrategy>>
findLargestBatches(mlir::ModuleOp model, const CompileOptions &options, int64_t limit);

/// Returns those of the decided settings that also hold for the largest micro-batches, such as offloading.
TriedSettings sharedWithLargest(const TriedSettings &decided);

/// Returns a line for each activation checkpointing with which not one sample fits, or whose search ended at
/// the maximum number of samples.
std::string remarksOnLargestBatches(llvm::ArrayRef<PlannedStrategy> largest);

/// Returns the limit and these strategies.
llvm::json::Object largestBatchesJson(int64_t limit, llvm::ArrayRef<PlannedStrategy> largest);

} // namespace trainc
