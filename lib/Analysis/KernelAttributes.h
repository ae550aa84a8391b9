// Attributes by which kernels are known before and besides their code.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace trainc {

/// On scheduled ops, by the pass summarise-kernels: launches in order or a library call, types of each
/// scratch buffer, and pairs (operand, result) that may be one buffer.
inline constexpr llvm::StringLiteral kLaunchesAttr = "plan.launches", kLibraryCallAttr = "plan.library_call",
                                     kScratchAttr = "plan.scratch", kMayAliasAttr = "plan.may_alias";

/// On scheduled starts of collectives, likewise: the kernel that adds what ranks send.
inline constexpr llvm::StringLiteral kRankSumAttr = "plan.rank_sum";

/// On scheduled ops, by the pass pad-rows: padding behind rows (RowPadding.h).
inline constexpr llvm::StringLiteral kRowPaddingAttr = "plan.row_padding";

/// On the functions from which code is made: the kernels that each stands for, in the order of its launches.
inline constexpr llvm::StringLiteral kKernelsAttr = "plan.kernels";

} // namespace trainc
