// A training step of a plan on a cluster.
#pragma once

#include "runtime/base/status.h"
#include "runtime/cost/cluster_file.h"
#include "runtime/plan/memory_need.h"
#include "runtime/simulate/plan_schedule.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// An entry that a step runs.
struct SimulatedEntry {
  std::string_view name;
  uint64_t runs = 0; ///< in a step
  Schedule schedule; ///< of one run
};

/// Equal instructions of a step.
struct SimulatedRow {
  std::string what;   ///< see describeInstruction()
  std::string source; ///< the first one's op, and its line
  double count = 0;   ///< in a step, loops counted
  bool isCollective = false;
  Cost each; ///< of collectives the bytes that are sent, and all seconds as theirs

  double seconds() const { return count * each.seconds(); }
};

/// What every rank does in a step: all do the same at the same time.
struct Simulation {
  Machine machine; ///< what a rank has
  double seconds = 0;
  double flops = 0;     ///< that a rank's step is for, as entries say
  double madeFlops = 0; ///< that it makes in products and attention: more where they are made again
  double tokens = 0;    ///< of all ranks; samples where they have no length
  std::vector<StreamSeconds> streams; ///< as fb::Stream numbers them
  std::vector<SimulatedEntry> entries;
  std::vector<SimulatedRow> rows; ///< the costliest first
  MemoryNeed memory;              ///< of a rank

  /// Share of the peak.
  double mfu() const { return flops / seconds / machine.peakFlopsPerSecond; }
};

/// The built-in cluster that the plan's own predictions are for: its GPU's, or that of CPUs.
const Cluster &clusterOf(const fb::Plan &plan);

/// Fails (kInvalidInput) where the cluster has no device that runs the plan, or no rate that it needs, or the
/// plan no training step.
Result<Simulation> simulate(const fb::Plan &plan, const Cluster &cluster);

} // namespace trainc
