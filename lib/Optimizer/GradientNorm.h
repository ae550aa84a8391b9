// Norm of all gradients, clipping, and whether the step may be applied.
#pragma once

#include "lib/Optimizer/StepBuilder.h"

namespace trainc {

/// The square root of the sum of all squares: tensor<f32>. There is one gradient or more.
mlir::Value buildGlobalNorm(StepBuilder &build, llvm::ArrayRef<mlir::Value> gradients);

/// min(1, clip/(norm + 1e-6)), as torch.nn.utils.clip_grad_norm_.
mlir::Value buildClipFactor(StepBuilder &build, mlir::Value norm, double clip);

/// 1 where all `scalars` are finite, else 0: tensor<f32>.
mlir::Value buildFiniteFlag(StepBuilder &build, llvm::ArrayRef<mlir::Value> scalars);

} // namespace trainc
