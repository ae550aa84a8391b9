// The states of what products read in fp8: a scale for each operand, and the magnitudes that it follows from.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace trainc::train {

/// Steps whose largest magnitudes decide about a scale.
constexpr int64_t kMagnitudeSteps = 16;

/// A flat state has so many elements of each operand, f32: kernels and libraries want what they read to begin
/// with 64 bytes. Of scales the first is one; of histories all are.
constexpr int64_t kScaleStride = 16;
static_assert(kMagnitudeSteps == kScaleStride, "histories lie as scales do");

/// Of checkpoints' names, each with the operand's behind it.
constexpr llvm::StringLiteral kScaleName = "fp8_scale.", kMagnitudesName = "fp8_amax.";
/// Of the flat states, each with the set's behind it.
constexpr llvm::StringLiteral kScalesState = "fp8_scales.", kHistoriesState = "fp8_amaxes.";

} // namespace trainc::train
