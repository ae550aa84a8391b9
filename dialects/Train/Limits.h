// Limits of a program's sizes. A plan beyond them is refused when it is loaded.
#pragma once

#include <cstdint>

namespace trainc::train {

/// Samples of a micro-batch, or of an evaluation batch.
constexpr int64_t kMaxBatch = int64_t(1) << 20;
/// Processes that train together.
constexpr int64_t kMaxRanks = int64_t(1) << 16;
/// What ranks keep a part of: nothing (0), optimizer states (1), gradients (2) and parameters (3) too.
constexpr int64_t kMaxZeroStage = 3;
/// Units of parameters that are gathered ahead.
constexpr int64_t kMaxPrefetch = 32;
/// Micro-batches of a step and rank.
constexpr int64_t kMaxAccumulate = int64_t(1) << 16;
/// Bytes of a GPU that a plan leaves to others.
constexpr int64_t kMaxReserve = int64_t(1) << 50;
/// Tokens of a sample.
constexpr int64_t kMaxLength = INT32_MAX;
/// Steps of a run.
constexpr int64_t kMaxSteps = INT32_MAX;
/// What a loss is multiplied by at first, at least, or all the time.
constexpr int64_t kMaxLossScale = int64_t(1) << 40;
/// Steps that the state of a loss scale counts, in f32.
constexpr int64_t kMaxLossScaleWindow = int64_t(1) << 24;
/// Steps that a schedule counts.
constexpr int64_t kMaxScheduled = int64_t(1) << 40;

} // namespace trainc::train
