// The learning-rate schedules, for the compiler and the runtime.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cmath>
#include <iterator>
#include <numbers>
#include <optional>
#include <string_view>

namespace trainc {

/// A learning-rate schedule after its warmup.
struct ScheduleFormula {
  const char *name; ///< as a model's text has it
  bool decays;      ///< whether the rate falls to `minimum` at the step `total`; if not, it stays at its peak
  /// Remaining fraction between minimum and peak at `progress`, which goes from 0 to 1.
  double (*remaining)(double progress);
};

/// All schedules, in the order of fb::ScheduleKind. The first one is the default.
inline constexpr ScheduleFormula kSchedules[] = {
    {"constant", false, [](double) { return 1.0; }},
    {"linear", true, [](double progress) { return 1 - progress; }},
    {"cosine", true, [](double progress) { return (1 + std::cos(std::numbers::pi * progress)) / 2; }},
};
static_assert(std::size(kSchedules) == static_cast<size_t>(fb::ScheduleKind::MAX) + 1);

/// Returns the formula of a verified plan's schedule.
inline const ScheduleFormula &formulaOf(fb::ScheduleKind kind) {
  return kSchedules[static_cast<size_t>(kind)];
}

/// Returns the schedule named `name`, or nothing.
inline std::optional<fb::ScheduleKind> findSchedule(std::string_view name) {
  for (const fb::ScheduleKind kind : fb::EnumValuesScheduleKind())
    if (formulaOf(kind).name == name)
      return kind;
  return std::nullopt;
}

} // namespace trainc
