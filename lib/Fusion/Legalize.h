// Rewriting of primitive ops into forms that kernels support.
#pragma once

#include "mlir/IR/Block.h"

namespace trainc {

/// Rewrites the ops of `block` so that
///  * each nn.reduce reduces the leading, the trailing or all dimensions (not counting those of size 1);
///  other reductions are split in two, or their operand is transposed;
///  * reductions and broadcasts that keep the number of elements are reshapes;
///  * the sum of all squares of a tensor shares them with no other op;
///  * rows of low-precision tables are converted after the nn.gather, instead of the whole table before it;
///  * each use of nn.constant 0 by an op that is not primitive has its own constant, because the op may
///  update it in place.
void legalizePrimitives(mlir::Block &block);

} // namespace trainc
