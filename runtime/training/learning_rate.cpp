#include "runtime/training/learning_rate.h"

#include <cmath>
#include <numbers>

namespace trainc {

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
  const double factor = schedule.kind() == fb::ScheduleKind::Linear
                            ? 1 - progress
                            : (1 + std::cos(std::numbers::pi * progress)) / 2;
  return schedule.minimum() + (schedule.peak() - schedule.minimum()) * factor;
}

} // namespace trainc
