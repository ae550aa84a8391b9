// GPU generations that a plan has machine code for.
#pragma once

#include "dialects/Train/Train.h"

#include <vector>

namespace trainc::codegen {

/// Default: every level, if there is an assembler.
inline constexpr llvm::StringLiteral kAllGpuLevels = "all";

/// Attribute of a module of kernels with the word `gpu_levels`, unless it is the default.
inline constexpr llvm::StringLiteral kGpuLevelsAttr = "plan.gpu_levels";

/// Returns the levels of machine code that `words` select (`gpu_levels` of train.program), the lowest first.
/// PTX is not a level; every plan has it.
std::vector<llvm::StringRef> chooseGpuLevels(llvm::StringRef words);

/// Normalises the program's levels: in order, each once. Fails with an error at the program if its words
/// contradict each other, or name levels and there is no assembler.
llvm::LogicalResult resolveGpuLevels(train::ProgramOp program);

} // namespace trainc::codegen
