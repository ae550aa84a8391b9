// Kernel classes that are specific to GPUs: for each, a summary of its kernels without code, and their code,
// as symbols of the summary's launches.
#pragma once

#include "dialects/Dist/Dist.h"
#include "dialects/NN/NN.h"
#include "lib/Codegen/Kernels/Rows.h"

namespace trainc::codegen::cuda {

/// One launch for each box of elements, or of zeros.
KernelSummary summariseCopy(StridedCopyOpInterface op);
Symbols generateCopy(StridedCopyOpInterface op, KernelModule &kernels);

/// nn.scatter_add: the first launch sums the updates of equal ids within a piece; in the second each warp
/// adds the sums to its own rows, piece by piece.
KernelSummary summariseScatter(nn::ScatterAddOp op);
Symbols generateScatter(nn::ScatterAddOp op, KernelModule &kernels);

/// Matrix products without a library call, such as sums over a batch. Each block computes a square of the
/// result.
KernelSummary summariseGemm(GemmOpInterface op);
Symbols generateGemm(GemmOpInterface op, KernelModule &kernels);

/// Attention and its gradient, without matrices of scores. Fails with an error if rows of heads are too wide.
/// bf16 and f16 products use tensor cores, and weights are rounded to that type before the second product.
llvm::FailureOr<KernelSummary> summariseAttention(nn::AttentionOp op);
llvm::FailureOr<Symbols> generateAttention(nn::AttentionOp op, KernelModule &kernels);
llvm::FailureOr<KernelSummary> summariseAttentionGrad(nn::AttentionGradOp op);
llvm::FailureOr<Symbols> generateAttentionGrad(nn::AttentionGradOp op, KernelModule &kernels);

/// dist.rank_sum: the kernel's arguments are the addresses of each rank's values, of the sums, and of the end
/// of the sums.
KernelSummary summariseRankSum(dist::RankSumOp op);
Symbols generateRankSum(dist::RankSumOp op, KernelModule &kernels);

/// Maximum number of ranks, limited by the size of a launch's arguments.
inline constexpr int64_t kMaxRankSumRanks = 512;

} // namespace trainc::codegen::cuda
