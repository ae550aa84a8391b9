// How far two tensors lie apart.
#pragma once

#include "lib/Reference/Tensor.h"

namespace trainc::check {

/// max |actual - expected| / max(max |expected|, floor). Equal infinities and two NaNs differ by 0, a NaN and
/// a number by infinity; infinities do not count for the scale.
double relativeError(const reference::Tensor &actual, const reference::Tensor &expected, double floor);

/// The largest relative error of corresponding tensors.
double largestError(const reference::Tensors &actual, const reference::Tensors &expected, double floor);

} // namespace trainc::check
