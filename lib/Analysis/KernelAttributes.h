// Attributes that describe the kernels of scheduled ops, independent of their code.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace trainc {

/// Set by the pass summarise-kernels on scheduled ops: launches in order, or a library call; types of the
/// scratch buffers; and pairs (operand, result) that may share one buffer.
inline constexpr llvm::StringLiteral kLaunchesAttr = "plan.launches", kLibraryCallAttr = "plan.library_call",
                                     kScratchAttr = "plan.scratch", kMayAliasAttr = "plan.may_alias";

/// Set by the pass summarise-kernels on scheduled collective starts: the kernel that sums what ranks send.
inline constexpr llvm::StringLiteral kRankSumAttr = "plan.rank_sum";

/// Set by the pass pad-rows on scheduled ops: padding after rows (RowPadding.h).
inline constexpr llvm::StringLiteral kRowPaddingAttr = "plan.row_padding";

/// Set on functions from which code is generated: names of the kernels that share the function, in the order
/// of their launches.
inline constexpr llvm::StringLiteral kKernelsAttr = "plan.kernels";

} // namespace trainc
