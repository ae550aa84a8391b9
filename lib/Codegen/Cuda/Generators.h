// The kernel classes that GPUs run in a way of their own: of each, its summary without code, and the code, as
// the symbols of the summary's launches.
#pragma once

#include "dialects/Dist/Dist.h"
#include "dialects/NN/NN.h"
#include "lib/Codegen/Kernels/Rows.h"

namespace trainc::codegen::cuda {

/// A launch for each box of elements that move together, or of zeros.
KernelSummary summariseCopy(StridedCopyOpInterface op);
Symbols generateCopy(StridedCopyOpInterface op, KernelModule &kernels);

/// nn.scatter_add: updates of equal ids of a piece are added up first, and then each warp adds what there is
/// to rows of its own, piece by piece.
KernelSummary summariseScatter(nn::ScatterAddOp op);
Symbols generateScatter(nn::ScatterAddOp op, KernelModule &kernels);

/// Matrix products that no library does, such as sums over a batch: each block makes a square of the result.
KernelSummary summariseGemm(GemmOpInterface op);
Symbols generateGemm(GemmOpInterface op, KernelModule &kernels);

/// Attention and its gradient, without matrices of scores; errors where rows of heads are too wide. Products
/// of bf16 and f16 are those of tensor cores: weights are rounded to that type before the second product.
llvm::FailureOr<KernelSummary> summariseAttention(nn::AttentionOp op);
llvm::FailureOr<Symbols> generateAttention(nn::AttentionOp op, KernelModule &kernels);
llvm::FailureOr<KernelSummary> summariseAttentionGrad(nn::AttentionGradOp op);
llvm::FailureOr<Symbols> generateAttentionGrad(nn::AttentionGradOp op, KernelModule &kernels);

/// dist.rank_sum: the kernel takes the address of what each place has, of the sums, and of where they end.
KernelSummary summariseRankSum(dist::RankSumOp op);
Symbols generateRankSum(dist::RankSumOp op, KernelModule &kernels);

/// Ranks that it adds up at most: what a launch's arguments have room for.
inline constexpr int64_t kMostPlaces = 512;

} // namespace trainc::codegen::cuda
