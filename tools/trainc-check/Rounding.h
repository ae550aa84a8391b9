// What rounding to bf16 and f16 may do to results.
#pragma once

#include "lib/Reference/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

namespace trainc::check {

/// True for tensors of bf16 or f16.
bool isShort(mlir::Value value);

/// Whether the function takes, makes or gives numbers of bf16 or f16.
bool hasShortNumbers(mlir::func::FuncOp function);

/// For each element of each result the most that it may be off because each op rounds each of its numbers of
/// bf16 and f16 once, by half a unit in the last place: what each of these changes moves it by alone, in
/// float64, added up as if all had the worst sign. That is the bound of first order.
mlir::FailureOr<reference::Tensors> roundingErrors(mlir::func::FuncOp function,
                                                   const reference::Tensors &arguments);

/// About the same for functions with many numbers, estimated: three times the most by which a number moves,
/// or the numbers of its tensor on average, in a few runs that change each rounded number by a unit in the
/// last place, up or down at random. A kernel rounds to the other side if its f32 number is on the other side
/// of the middle. What is only moved or converted from arguments is exact, and what the function gives is
/// changed behind that. Of attention, weights and output are changed as well: target cuda rounds the weights.
mlir::FailureOr<reference::Tensors> sampledRoundingErrors(mlir::func::FuncOp function,
                                                          const reference::Tensors &arguments);

} // namespace trainc::check
