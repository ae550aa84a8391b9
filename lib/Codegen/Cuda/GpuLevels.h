// For which GPUs a plan has machine code.
#pragma once

#include "dialects/Train/Train.h"

#include <vector>

namespace trainc::codegen {

/// What a program chooses that says nothing: every level, if there is an assembler.
inline constexpr llvm::StringLiteral kAllGpuLevels = "all";

/// On a module of kernels: the word `gpu_levels` of its program, unless it is the default.
inline constexpr llvm::StringLiteral kGpuLevelsAttr = "plan.gpu_levels";

/// The levels of machine code that `words` choose (`gpu_levels` of train.program), the lowest first. PTX is
/// none of them: every plan has it.
std::vector<llvm::StringRef> chooseGpuLevels(llvm::StringRef words);

/// Writes the program's levels in their order, each once. Fails with an error at the program if its words
/// contradict each other, or name levels and there is no assembler.
llvm::LogicalResult settleGpuLevels(train::ProgramOp program);

} // namespace trainc::codegen
