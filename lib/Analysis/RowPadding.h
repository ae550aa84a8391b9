// Padding after the rows of tensors in memory. A row is a tensor's last dimension.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace trainc {

/// Return the elements of padding after each row (including the last) of an op's operand or result, as set by
/// the pass pad-rows.
int64_t operandPadding(mlir::Operation *op, unsigned operand);
int64_t resultPadding(mlir::Operation *op, unsigned result);

/// Sets the padding of `value` on an op of which it is an operand or a result.
void setRowPadding(mlir::Operation *op, mlir::Value value, int64_t elements);

/// Return the bytes of a value in memory, and of a tensor with `padding` elements after each row.
int64_t paddedBytes(mlir::Value value);
int64_t paddedBytes(mlir::Type type, int64_t padding);

} // namespace trainc
