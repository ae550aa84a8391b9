// States of fp8 operands: a scale for each operand, and the history of magnitudes that determines it.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace trainc::train {

/// Number of past steps whose maximum magnitudes determine a scale.
constexpr int64_t kMagnitudeSteps = 16;

/// Elements per operand of a flat state, f32: 64 bytes, the alignment that kernels and libraries need. Scales
/// use the first element only; histories use all.
constexpr int64_t kScaleStride = 16;
static_assert(kMagnitudeSteps == kScaleStride, "histories lie as scales do");

/// Prefixes of the operands' names in checkpoints.
constexpr llvm::StringLiteral kScaleName = "fp8_scale.", kMagnitudesName = "fp8_amax.";
/// Prefixes of the flat states, one of each per set of operands.
constexpr llvm::StringLiteral kScalesState = "fp8_scales.", kHistoriesState = "fp8_amaxes.";

} // namespace trainc::train
