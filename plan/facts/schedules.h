// The learning-rate schedules, for the compiler and the runtime.
#pragma once

#include "plan/schema/plan_generated.h"
#include "plan/settings/limits.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>

namespace trainc {

/// Range of valid values of a schedule's number.
enum class ScheduleRange : uint8_t {
  Steps,    ///< a whole number, 0 or more
  Count,    ///< a whole number, 1 or more
  Ratio,    ///< 0 to 1
  Rate,     ///< 0 or more
  Positive, ///< above 0
  Switch,   ///< 0 (no) or 1 (yes)
};

/// A number of a schedule, such as the length of its warmup.
struct ScheduleNumber {
  std::string_view word; ///< as a model's text has it
  double standard;       ///< default
  ScheduleRange range;
};

/// A step after the warmup, for a formula.
struct ScheduleMoment {
  uint64_t step;                   ///< 0-based
  uint64_t warmup;                 ///< length of the warmup, in steps
  uint64_t fallsFrom;              ///< step from which a rate that falls does so
  uint64_t length;                 ///< step at which it has fallen
  std::span<const double> numbers; ///< in the order of ScheduleFormula::numbers

  /// Position between fallsFrom and length, from 0 to 1.
  double progress() const {
    if (step >= length)
      return 1;
    return step <= fallsFrom
               ? 0
               : static_cast<double>(step - fallsFrom) / static_cast<double>(length - fallsFrom);
  }
};

/// A learning-rate schedule.
struct ScheduleFormula {
  const char *name; ///< as a model's text has it
  bool ends;        ///< whether the rate reaches its last value at a step, `total`
  std::span<const ScheduleNumber> numbers;
  /// The rate at a moment is minimum + (peak - minimum) factor; formulas without a `minimum` have 0.
  double (*factor)(const ScheduleMoment &moment);
};

namespace schedules {

inline constexpr ScheduleNumber kWarmup = {"warmup", 0, ScheduleRange::Steps},
                                kWarmupRatio = {"warmup_ratio", 0, ScheduleRange::Ratio},
                                kMinRate = {"minimum", 0, ScheduleRange::Rate},
                                kDecay = {"decay", 0, ScheduleRange::Steps},
                                kDecayRatio = {"decay_ratio", 0, ScheduleRange::Ratio};

inline constexpr ScheduleNumber kOfConstant[] = {kWarmup, kWarmupRatio};
/// Numbers of a rate that stays at its peak after the warmup, and then falls for `decay` steps, by default at
/// once.
inline constexpr ScheduleNumber kOfFall[] = {kWarmup, kWarmupRatio, kMinRate, kDecay, kDecayRatio};
/// Numbers that one schedule alone has come first, so that its formula finds them at [0].
inline constexpr ScheduleNumber kOfRestarts[] = {
    {"cycles", 1, ScheduleRange::Count}, kWarmup, kWarmupRatio, kMinRate, kDecay, kDecayRatio};
inline constexpr ScheduleNumber kOfPolynomial[] = {
    {"power", 1, ScheduleRange::Positive}, kWarmup, kWarmupRatio, kMinRate, kDecay, kDecayRatio};
inline constexpr ScheduleNumber kOfInverseSqrt[] = {
    {"timescale", 0, ScheduleRange::Steps}, kWarmup, kWarmupRatio};
inline constexpr ScheduleNumber kOfOneCycle[] = {{"pct_start", 0.3, ScheduleRange::Ratio},
                                                 {"div_factor", 25, ScheduleRange::Positive},
                                                 {"final_div_factor", 1e4, ScheduleRange::Positive}};
inline constexpr ScheduleNumber kOfRangeTest[] = {{"step_size", 2000, ScheduleRange::Count},
                                                  {"step_rate", 1, ScheduleRange::Rate},
                                                  {"staircase", 0, ScheduleRange::Switch}};

/// Half a cosine, from 1 at progress 0 to 0 at progress 1.
inline double halfCosine(double progress) { return (1 + std::cos(std::numbers::pi * progress)) / 2; }

/// Cosines that begin again at the peak, as transformers' get_cosine_with_hard_restarts_schedule_with_warmup.
inline double restarts(const ScheduleMoment &moment) {
  const double progress = moment.progress();
  return progress >= 1 ? 0 : halfCosine(std::fmod(moment.numbers[0] * progress, 1.0));
}

/// 1 / sqrt(steps / timescale), as transformers' get_inverse_sqrt_schedule. The default timescale is the
/// warmup or, without one, 10000.
inline double inverseSqrt(const ScheduleMoment &moment) {
  const double warmup = static_cast<double>(moment.warmup);
  const double standard = moment.warmup > 0 ? warmup : 10000;
  const double timescale = moment.numbers[0] > 0 ? moment.numbers[0] : standard;
  return 1 / std::sqrt((static_cast<double>(moment.step) + timescale - warmup) / timescale);
}

/// Cosines from peak / div_factor to the peak and to peak / div_factor / final_div_factor, as PyTorch's
/// OneCycleLR.
inline double oneCycle(const ScheduleMoment &moment) {
  const double first = 1 / moment.numbers[1], last = first / moment.numbers[2];
  const double step = static_cast<double>(moment.step), end = static_cast<double>(moment.length) - 1;
  const double top = moment.numbers[0] * static_cast<double>(moment.length) - 1;
  if (step <= top)
    return top > 0 ? 1 + (first - 1) * halfCosine(step / top) : 1;
  return last + (1 - last) * halfCosine(end > top ? std::min((step - top) / (end - top), 1.0) : 1);
}

/// 1 + step_rate times the intervals of step_size steps so far, as DeepSpeed's LRRangeTest.
inline double rangeTest(const ScheduleMoment &moment) {
  const double intervals = static_cast<double>(moment.step) / moment.numbers[0];
  return 1 + moment.numbers[1] * (moment.numbers[2] != 0 ? std::floor(intervals) : intervals);
}

} // namespace schedules

/// All schedules, in the order of fb::ScheduleKind. The first one is the default.
inline constexpr ScheduleFormula kSchedules[] = {
    {"constant", false, schedules::kOfConstant, [](const ScheduleMoment &) { return 1.0; }},
    {"linear", true, schedules::kOfFall, [](const ScheduleMoment &m) { return 1 - m.progress(); }},
    {"cosine", true, schedules::kOfFall,
     [](const ScheduleMoment &m) { return schedules::halfCosine(m.progress()); }},
    {"cosine_with_restarts", true, schedules::kOfRestarts, schedules::restarts},
    {"polynomial", true, schedules::kOfPolynomial,
     [](const ScheduleMoment &m) { return std::pow(1 - m.progress(), m.numbers[0]); }},
    {"one_minus_sqrt", true, schedules::kOfFall,
     [](const ScheduleMoment &m) { return 1 - std::sqrt(m.progress()); }},
    {"inverse_sqrt", false, schedules::kOfInverseSqrt, schedules::inverseSqrt},
    {"one_cycle", true, schedules::kOfOneCycle, schedules::oneCycle},
    {"lr_range_test", false, schedules::kOfRangeTest, schedules::rangeTest},
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

/// Returns the number of that word among those of a schedule, which are in the formula's order; 0 if it has
/// none.
inline double numberOf(const ScheduleFormula &formula, std::span<const double> numbers,
                       std::string_view word) {
  for (size_t i = 0; i < formula.numbers.size() && i < numbers.size(); ++i)
    if (formula.numbers[i].word == word)
      return numbers[i];
  return 0;
}

/// Says which values a number may have, or nothing if `value` is one of them.
inline std::string_view expectedOf(ScheduleRange range, double value) {
  const bool isWhole = value == std::floor(value) && value <= static_cast<double>(train::kMaxScheduled);
  switch (range) {
  case ScheduleRange::Steps:
    return isWhole && value >= 0 ? "" : "a whole number of steps up to 1099511627776";
  case ScheduleRange::Count:
    return isWhole && value >= 1 ? "" : "a whole number from 1 to 1099511627776";
  case ScheduleRange::Ratio:
    return value >= 0 && value <= 1 ? "" : "a number from 0 to 1";
  case ScheduleRange::Rate:
    return std::isfinite(static_cast<float>(value)) && value >= 0 ? "" : "a finite number, 0 or more";
  case ScheduleRange::Switch:
    return value == 0 || value == 1 ? "" : "0 or 1";
  case ScheduleRange::Positive:
    return std::isfinite(static_cast<float>(value)) && static_cast<float>(value) > 0
               ? ""
               : "a finite number above 0";
  }
  return {};
}

} // namespace trainc
