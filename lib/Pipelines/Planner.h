// `--memory-limit`: the fastest strategy whose plan fits.
#pragma once

#include "lib/Pipelines/Planning.h"

namespace trainc {

/// Decides the open settings of the program of `model` (phase `model`) such that its plan, and what a rank
/// needs besides, have at most `limit` bytes, and the predicted step on the target's reference machine is
/// fastest. Open settings are ZeRO stage and groups, offloading, activation checkpointing, keeping and
/// prefetching of gathered parameters, and the number of micro-batches per step, whose samples do not change.
/// Settings given by options or text are kept, except that the text's micro-batch may be split. With
/// `activation_checkpointing budget` nothing is open. `model` has the settings of `options`. Equal input
/// gives equal decisions. The decisions are written into the program. If nothing fits, decides for the
/// strategy with the fewest bytes that fits into the host, and checkMemory() reports the error.
///
/// The search is best-first. It assumes that smaller micro-batches, offloading and recomputation never save
/// time, except that recomputation may if the step copies offloaded tensors. So it ends when it has found a
/// strategy that is no slower than the lower bounds of all remaining ones.
llvm::FailureOr<Planning> decideWhatFits(mlir::ModuleOp model, const CompileOptions &options, int64_t limit);

} // namespace trainc
