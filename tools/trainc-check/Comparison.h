// How far two tensors lie apart.
#pragma once

#include "lib/Reference/Tensor.h"

namespace trainc::check {

// Equal infinities and two NaNs differ by 0, a NaN and a number by infinity.

/// The distance of numbers of a short float type near `number`; 0 for other types.
double unitInTheLastPlace(mlir::Type element, double number);

/// The largest |actual - expected| / max(|expected|, floor) of any element. Numbers of bf16 and f16 differ by
/// one unit in the last place less: both were rounded, each by at most half a unit.
double elementError(const reference::Tensor &actual, const reference::Tensor &expected, double floor);

/// max |actual - expected| / max(max |expected|, floor), the maxima over all elements; infinities do not
/// count for the scale.
double tensorError(const reference::Tensor &actual, const reference::Tensor &expected, double floor);

/// The largest tensorError of corresponding tensors.
double tensorError(const reference::Tensors &actual, const reference::Tensors &expected, double floor);

/// The largest |actual - expected| of any element as a part of what is allowed there: `errors`, and half a
/// unit in the last place by which `expected` was rounded.
double allowedError(const reference::Tensors &actual, const reference::Tensors &expected,
                    const reference::Tensors &errors);

} // namespace trainc::check
