// Errors between tensors.
#pragma once

#include "lib/Reference/Tensor.h"

namespace trainc::check {

// All functions: equal infinities and two NaNs differ by 0, a NaN and a number by infinity.

/// One ULP of a bf16, f16 or fp8 type at `number`; 0 for other types.
double unitInTheLastPlace(mlir::Type element, double number);

/// Maximum |actual - expected| / max(|expected|, floor) over all elements. The error of bf16 and f16 numbers
/// is reduced by one ULP, because both numbers were rounded, each by at most half an ULP.
double elementError(const reference::Tensor &actual, const reference::Tensor &expected, double floor);

/// Maximum |actual - expected| over all elements, divided by max(maximum |expected|, floor). Infinities are
/// excluded from the maximum of |expected|.
double tensorError(const reference::Tensor &actual, const reference::Tensor &expected, double floor);

/// Maximum tensorError of corresponding tensors.
double tensorError(const reference::Tensors &actual, const reference::Tensors &expected, double floor);

/// Maximum ratio, over all elements, of |actual - expected| to the allowed error: `errors`, plus half an ULP
/// for the rounding of `expected`.
double ratioToAllowedError(const reference::Tensors &actual, const reference::Tensors &expected,
                           const reference::Tensors &errors);

} // namespace trainc::check
