// What lies between the rows of tensors in memory. A row is a tensor's last dimension.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace trainc {

/// Elements of padding behind each row of an op's operand, or result, the last one too, as the pass pad-rows
/// has noted.
int64_t operandPadding(mlir::Operation *op, unsigned operand);
int64_t resultPadding(mlir::Operation *op, unsigned result);

/// Notes the padding of `value` on an op of which it is an operand or a result.
void setRowPadding(mlir::Operation *op, mlir::Value value, int64_t elements);

/// Bytes of a value in memory, and of a tensor with so much padding behind each row.
int64_t paddedBytes(mlir::Value value);
int64_t paddedBytes(mlir::Type type, int64_t padding);

} // namespace trainc
