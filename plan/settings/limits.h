// Maximum sizes of a program. `trainrun` rejects plans that exceed them.
#pragma once

#include <cstdint>

namespace trainc::train {

/// Samples of a micro-batch or of an evaluation batch.
constexpr int64_t kMaxBatch = int64_t(1) << 20;
/// Processes that train together.
constexpr int64_t kMaxRanks = int64_t(1) << 16;
/// ZeRO stage: ranks shard nothing (0), optimizer states (1), gradients too (2), parameters too (3).
constexpr int64_t kMaxZeroStage = 3;
/// Parameter units that are gathered ahead.
constexpr int64_t kMaxPrefetch = 32;
/// Micro-batches per step and rank.
constexpr int64_t kMaxAccumulate = int64_t(1) << 16;
/// Bytes of GPU memory that a plan reserves for other users.
constexpr int64_t kMaxReserve = int64_t(1) << 50;
/// Tokens of a sample.
constexpr int64_t kMaxLength = INT32_MAX;
/// Steps of a run.
constexpr int64_t kMaxSteps = INT32_MAX;
/// Loss scale: initial and fixed.
constexpr int64_t kMaxLossScale = int64_t(1) << 40;
/// Steps of a schedule.
constexpr int64_t kMaxScheduled = int64_t(1) << 40;

/// Rank of adapters; more than any layer's width.
constexpr int64_t kMaxLoraRank = int64_t(1) << 16;
/// Scale of adapters, before it is divided by their rank.
constexpr int64_t kMaxLoraAlpha = int64_t(1) << 30;

} // namespace trainc::train
