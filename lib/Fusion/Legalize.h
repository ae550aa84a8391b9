// Brings primitive ops into the forms that kernels know.
#pragma once

#include "mlir/IR/Block.h"

namespace trainc {

/// Rewrites the ops of `block` so that
///  * each nn.reduce goes over the leading, the trailing or all dimensions (not counting those of size 1):
///  others are split in
///    two, or their operand is transposed;
///  * reductions and broadcasts that keep the number of elements are reshapes;
///  * no table is converted from a short type as a whole: its rows are, behind the nn.gather;
///  * each use of nn.constant 0 by an op that is no primitive has a constant of its own (that op may update
///  it in place).
void legalizePrimitives(mlir::Block &block);

} // namespace trainc
