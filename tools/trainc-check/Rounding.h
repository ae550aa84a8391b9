// Effect of rounding to bf16 and f16 on results.
#pragma once

#include "lib/Reference/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

namespace trainc::check {

/// Whether the value is a tensor of bf16 or f16.
bool isShort(mlir::Value value);

/// Whether the function has arguments, intermediates or results of bf16 or f16.
bool hasShortNumbers(mlir::func::FuncOp function);

/// First-order bound of the error of each result element, if each op rounds each of its bf16 and f16 numbers
/// once, by half an ULP. Each perturbation is applied alone, in float64, and their effects are summed with
/// the worst signs.
mlir::FailureOr<reference::Tensors> roundingErrors(mlir::func::FuncOp function,
                                                   const reference::Tensors &arguments);

/// Estimates the same bound for functions with many numbers. Runs a few times with each rounded number
/// randomly perturbed by one ULP; the bound is three times the maximum change of an element, or of the mean
/// of its tensor. A kernel rounds to the other neighbour if its f32 number is on the other side of the
/// midpoint. Numbers that are only moved or converted from arguments are exact; the function's results are
/// perturbed afterwards. In attention, weights and output are perturbed too, because target cuda rounds the
/// weights.
mlir::FailureOr<reference::Tensors> sampledRoundingErrors(mlir::func::FuncOp function,
                                                          const reference::Tensors &arguments);

} // namespace trainc::check
