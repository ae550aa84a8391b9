// Masked vectors of 16-bit elements, for CPUs with masks of 32-bit and larger elements only.
#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace trainc::codegen {

/// Replaces masked loads and stores of vectors with an even number of i16 by accesses of pairs, and of the
/// last element if it has no pair. Masks must select the lanes below some count, as those of `Emitter` do. No
/// other memory is accessed. (LLVM would access lanes one by one, each in a branch.)
void expandShortMasks(llvm::Module &module);

} // namespace trainc::codegen
