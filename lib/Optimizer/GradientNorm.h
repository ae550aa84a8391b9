// Norm of all gradients, clipping, and whether the step may be applied.
#pragma once

#include "lib/Optimizer/StepBuilder.h"

namespace trainc {

/// Parameters with their gradients.
using Gradients = llvm::SmallVector<std::pair<llvm::StringRef, mlir::Value>>;

/// The square root of the sum of all squares: tensor<f32>. There is one gradient or more. Flat ones are
/// summed by chunks (see kFlatChunk), and these in the order of the members' names: the same bits however
/// parameters are put together and divided over ranks.
mlir::Value buildGlobalNorm(StepBuilder &build, const Gradients &gradients);

/// min(1, clip/(norm + 1e-6)), as torch.nn.utils.clip_grad_norm_.
mlir::Value buildClipFactor(StepBuilder &build, mlir::Value norm, double clip);

/// 1 where all `scalars` are finite, else 0: tensor<f32>.
mlir::Value buildFiniteFlag(StepBuilder &build, llvm::ArrayRef<mlir::Value> scalars);

} // namespace trainc
