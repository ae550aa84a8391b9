// Simulation of a plan's training step on a cluster.
#pragma once

#include "base/status.h"
#include "plan/cost/cluster_file.h"
#include "plan/facts/memory_need.h"
#include "plan/simulate/plan_schedule.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// An entry that a step runs.
struct SimulatedEntry {
  std::string_view name;
  uint64_t runs = 0; ///< per step
  Schedule schedule; ///< of one run
};

/// A group of equal instructions of a step.
struct SimulatedRow {
  std::string what;   ///< see describeInstruction()
  std::string source; ///< first source op and its line
  double count = 0;   ///< per step, including loop iterations
  bool isCollective = false;
  Cost each; ///< of one instruction; for a collective: the bytes that it sends, and its whole time

  double seconds() const { return count * each.seconds(); }
};

/// Simulation of one rank's step; all ranks do the same at the same time.
struct Simulation {
  Machine machine; ///< the rank's share of the cluster
  double seconds = 0;
  double flops = 0;         ///< FLOPs of a rank's step according to the entries, without recomputation
  double executedFlops = 0; ///< FLOPs executed in products and attention, including recomputation
  double tokens = 0;        ///< over all ranks; samples if the model has no sequence length (workUnit())
  std::vector<StreamSeconds> streams; ///< by fb::Stream
  std::vector<SimulatedEntry> entries;
  std::vector<SimulatedRow> rows; ///< costliest first
  MemoryNeed memory;              ///< per rank

  /// Fraction of the peak FLOP/s.
  double mfu() const { return flops / seconds / machine.peakFlopsPerSecond; }
};

/// Instructions of a verified plan's training step, equal ones combined, the costliest first.
std::vector<SimulatedRow> instructionRows(const fb::Plan &plan, const Machine &machine);

/// The built-in cluster that the plan's predictions assume: that of its GPU, or of CPUs.
const Cluster &clusterOf(const fb::Plan &plan);

/// Fails with kInvalidInput if the cluster has no device for the plan or lacks a needed rate, or if the plan
/// has no training step.
Result<Simulation> simulate(const fb::Plan &plan, const Cluster &cluster);

} // namespace trainc
