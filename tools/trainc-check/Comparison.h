// Errors between tensors.
#pragma once

#include "lib/Reference/Tensor.h"

namespace trainc::check {

// Equal infinities and two NaNs differ by 0, a NaN and a number by infinity.

/// One ULP of a bf16, f16 or fp8 type at `number`; 0 for other types.
double unitInTheLastPlace(mlir::Type element, double number);

/// Maximum |actual - expected| / max(|expected|, floor) over all elements. The error of bf16 and f16 numbers
/// is reduced by one ULP: both were rounded, each by at most half an ULP.
double elementError(const reference::Tensor &actual, const reference::Tensor &expected, double floor);

/// max |actual - expected| / max(max |expected|, floor), with maxima over all elements; infinities are
/// excluded from the scale.
double tensorError(const reference::Tensor &actual, const reference::Tensor &expected, double floor);

/// Maximum tensorError of corresponding tensors.
double tensorError(const reference::Tensors &actual, const reference::Tensors &expected, double floor);

/// Maximum ratio, over all elements, of |actual - expected| to the allowed error: `errors` plus half an ULP
/// by which `expected` was rounded.
double allowedError(const reference::Tensors &actual, const reference::Tensors &expected,
                    const reference::Tensors &errors);

} // namespace trainc::check
