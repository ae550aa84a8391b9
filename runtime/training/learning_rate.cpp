#include "runtime/training/learning_rate.h"

#include <cmath>
#include <numbers>

namespace trainc {

/// Remaining fraction between minimum and peak at `progress`, from 0 to 1 after the warmup.
static double remaining(fb::ScheduleKind kind, double progress) {
  switch (kind) {
  case fb::ScheduleKind::Constant:
    return 1;
  case fb::ScheduleKind::Linear:
    return 1 - progress;
  case fb::ScheduleKind::Cosine:
    return (1 + std::cos(std::numbers::pi * progress)) / 2;
  }
  return 1; // excluded by the verifier
}

double learningRate(const fb::Schedule &schedule, uint64_t step, uint64_t steps) {
  const uint64_t warmup = schedule.warmup();
  if (step < warmup)
    return schedule.peak() * static_cast<double>(step + 1) / static_cast<double>(warmup);
  if (schedule.kind() == fb::ScheduleKind::Constant)
    return schedule.peak();
  const uint64_t total = schedule.total() ? schedule.total() : steps;
  if (step >= total)
    return schedule.minimum();
  const double progress = static_cast<double>(step - warmup) / static_cast<double>(total - warmup);
  return schedule.minimum() + (schedule.peak() - schedule.minimum()) * remaining(schedule.kind(), progress);
}

} // namespace trainc
