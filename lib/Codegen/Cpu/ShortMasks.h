// Masked vectors of 16-bit numbers, for CPUs whose masks are of 32 bits and more.
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace trainc::codegen {

/// Replaces masked loads and stores of vectors of i16, an even number of them, by some of pairs and one of
/// the last number that is in no pair. Masks are of the lanes below some count, as all that `Emitter` makes
/// are. No other memory is touched. (LLVM would take the lanes one by one, each behind a branch.)
void expandShortMasks(llvm::Module &module);

} // namespace trainc::codegen
