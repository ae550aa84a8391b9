// Generation needs the logits of one position only.
#pragma once

#include "lib/Instantiate/PositionFlow.h"

namespace trainc {

/// The last op of the model's body that lets positions of a sequence see each other (or a use of a block that
/// holds such an op); all ops after it treat positions independently. Null if there is none.
mlir::Operation *findLastMixingOp(nn::ModelOp model);

/// From x [1, length, ...] the row at `position` (tensor<i32>), [1, 1, ...].
mlir::Value selectPosition(mlir::OpBuilder &builder, mlir::Value x, mlir::Value position);

/// Replaces every value that ops after `last` use, where it has a row for each position, by its row at
/// `position`; none of them where one has its positions elsewhere than in [1, length, ...].
void selectAfter(mlir::Operation *last, mlir::IRMapping &values, mlir::OpBuilder &builder,
                 const PositionDims &dims, int64_t length, mlir::Value position);

} // namespace trainc
