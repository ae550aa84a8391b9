// All that a report says of a plan is drawn from this: when its instructions run, and what lies where.
#pragma once

#include "runtime/simulate/plan_schedule.h"
#include "tools/report/labels.h"
#include "tools/report/occupancy.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace trainc::report {

struct EntryAnalysis {
  const fb::Entry *entry;
  uint64_t runs;     ///< in a training step
  Schedule schedule; ///< of the step's last run, if a step runs it
  std::vector<Moment> moments;
  Occupancy occupancy;

  /// At which values take most of the device's memory; null in an entry that has none there.
  const ArenaPeak *peak(const fb::Plan &plan) const;
};

struct Analysis {
  explicit Analysis(const fb::Plan &plan);

  const fb::Plan &plan;
  Labels labels;
  std::vector<ScheduledRuns> step;    ///< a training step
  std::vector<EntryAnalysis> entries; ///< as the plan has them
  /// The entry in which values take most of the device's memory, and the moment; null where no entry has
  /// any.
  const EntryAnalysis *peakEntry = nullptr;
  uint32_t peakMoment = 0;
  nlohmann::json compileReport; ///< that the plan holds; an empty object where it holds none of ours
};

/// "product", "attention", "rows", ...: what an instruction is, in a word.
std::string classOf(const fb::Plan &plan, const fb::Instruction &instruction);

} // namespace trainc::report
