// Analysis of a plan, from which all reports are drawn: schedule and occupancy.
#pragma once

#include "plan/simulate/plan_schedule.h"
#include "tools/report/labels.h"
#include "tools/report/occupancy.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace trainc::report {

struct EntryAnalysis {
  const fb::Entry *entry;
  uint64_t runs;     ///< number of runs in a training step
  Schedule schedule; ///< of the last run in a step, if a step runs the entry
  std::vector<Moment> moments;
  Occupancy occupancy;

  /// Peak of the device's memory in the entry; null if the entry has no values there.
  const ArenaPeak *peak(const fb::Plan &plan) const;
};

struct Analysis {
  explicit Analysis(const fb::Plan &plan);

  const fb::Plan &plan;
  Labels labels;
  std::vector<ScheduledRuns> step;    ///< runs of a training step
  std::vector<EntryAnalysis> entries; ///< in plan order
  /// Entry and moment with the peak of the device's memory; null if no entry has values there.
  const EntryAnalysis *peakEntry = nullptr;
  uint32_t peakMoment = 0;
  nlohmann::json compileReport; ///< report stored in the plan; an empty object if missing or unknown
};

/// Category of an instruction in one word: "product", "attention", "rows", ...
std::string classOf(const fb::Plan &plan, const fb::Instruction &instruction);

} // namespace trainc::report
