// `--memory-limit`: the fastest strategy whose plan fits.
#pragma once

#include "lib/Pipelines/Planning.h"

namespace trainc {

/// Decides what the program of `model` (phase `model`) leaves open, such that its plan, and what a rank needs
/// besides, have at most `limit` bytes, and a step takes the least time predicted for the target's machine of
/// reference: ZeRO stage and groups, offload, activation checkpointing, how gathered parameters stay and are
/// gathered ahead, and into how many micro-batches a step is cut, whose samples stay the same. What an option
/// or the text gives stays, except that the text's micro-batch may be cut. With `activation_checkpointing
/// budget` nothing is open. `model` has the settings of `options`.
/// Equal input gives equal decisions. Writes them into the program; decides nothing if nothing is open.
/// If nothing fits, it decides for the strategy of the least bytes that the host has room for, and the
/// limit's own error (checkMemoryLimit) says what that takes.
///
/// The search is best first. It takes for granted that no strategy gains time from smaller micro-batches, nor
/// from offload, nor from computing anything again, except that the latter may if the step copies what is
/// offloaded. So it ends once it has found one that takes no longer than each of those left would take at
/// least.
llvm::FailureOr<Planning> decideWhatFits(mlir::ModuleOp model, const CompileOptions &options, int64_t limit);

} // namespace trainc
