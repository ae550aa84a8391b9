// Combiners of reductions.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Codegen/Kernels/Emitter.h"

namespace trainc::codegen {

/// Returns the type in which a reduction sums before its result is rounded.
mlir::Type sumElement(nn::ReduceOp op);
mlir::Value identityOf(Emitter &emit, nn::ReduceKind kind, mlir::Type type);
mlir::Value combine(Emitter &emit, nn::ReduceKind kind, mlir::Value a, mlir::Value b);
/// Combines the lanes by halves: lane i with lane i + n/2, and so on.
mlir::Value combineLanes(Emitter &emit, nn::ReduceKind kind, mlir::Value vector);
/// Divides a sum by the number of elements if the reduction is a mean.
mlir::Value scaleMean(Emitter &emit, nn::ReduceOp reduce, mlir::Value value);

} // namespace trainc::codegen
