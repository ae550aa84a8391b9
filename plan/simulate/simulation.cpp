#include "plan/simulate/simulation.h"

#include "plan/facts/counts.h"
#include "plan/facts/instructions.h"
#include "plan/facts/library_calls.h"
#include "plan/facts/settings.h"
#include "plan/facts/step_entries.h"
#include "plan/facts/target.h"
#include "plan/facts/view.h"
#include "plan/facts/work.h"
#include "plan/settings/settings.h"
#include "plan/simulate/needed_rates.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainc {

namespace {

/// Groups equal instructions.
class Rows {
public:
  Rows(const fb::Plan &plan, const Machine &machine) : plan_(plan), machine_(machine) {}

  void add(const fb::Entry &entry, double runs) {
    for (const fb::Instruction *each : *entry.instructions())
      facts::forEachInside(*each, [&](const fb::Instruction &inner, uint64_t iterations) {
        add(inner, runs * double(iterations));
      });
  }

  std::vector<SimulatedRow> take() {
    std::vector<SimulatedRow> rows;
    for (auto &[key, row] : rows_)
      rows.push_back(std::move(row));
    std::ranges::sort(rows, [](const SimulatedRow &a, const SimulatedRow &b) {
      return std::tuple(b.seconds(), a.what, a.each.bytes) < std::tuple(a.seconds(), b.what, b.each.bytes);
    });
    return rows;
  }

private:
  using Key = std::tuple<std::string, double, double>;

  void add(const fb::Instruction &instruction, double runs) {
    SimulatedRow row{.what = describeInstruction(plan_, instruction),
                     .source = sourceText(*plan_.sources()->Get(instruction.source())),
                     .isCollective = instruction.operation_as_Collective() != nullptr,
                     .each = costOfOne(instruction)};
    Key key{row.what, row.each.bytes, row.each.workSeconds};
    rows_.try_emplace(std::move(key), std::move(row)).first->second.count += runs;
  }

  Cost costOfOne(const fb::Instruction &instruction) const {
    if (const auto work = workOf(plan_, instruction))
      return costOf(*work, machine_);
    const Exchange exchange = exchangeOf(plan_, *instruction.operation_as_Collective());
    return {.bytes = exchange.bytesSent, .byteSeconds = instructionSeconds(plan_, instruction, machine_)};
  }

  const fb::Plan &plan_;
  const Machine &machine_;
  std::map<Key, SimulatedRow> rows_;
};

Status requireSuited(const fb::Plan &plan, const Cluster &cluster) {
  const auto fits = [&](const TargetTraits &target) {
    return target.hasComputeCapability == cluster.hasComputeCapability();
  };
  if (const TargetTraits &target = targetOf(plan); !fits(target)) {
    const TargetTraits &other = *std::ranges::find_if(kTargets, fits);
    return invalidInput("the plan is for target {}, and the devices of '{}' are {}; name a cluster of {}, or "
                        "compile with --target={}",
                        target.name, cluster.name, other.processors, target.processors, other.name);
  }
  if (multipliesF8(plan) && cluster.machine.fp8FlopsPerSecond == 0)
    return invalidInput(
        "cluster '{}' has no device.fp8_flops_per_second, which the plan's fp8 products need; "
        "name a cluster of GPUs of compute capability 8.9 or higher",
        cluster.name);
  return requireRates(plan, cluster);
}

/// FLOPs of products and attention, by library or by kernel.
double productFlops(const fb::Plan &plan, const fb::Instruction &instruction) {
  if (isLibraryCall(instruction))
    return libraryFlops(instruction);
  const fb::Launch *launch = instruction.operation_as_Launch();
  if (!launch)
    return 0;
  const fb::Kernel &kernel = *plan.kernels()->Get(launch->kernel());
  const bool counts = kernel.kind() == fb::KernelKind::Gemm || kernel.kind() == fb::KernelKind::Attention;
  return counts ? double(kernel.flops()) : 0;
}

double executedFlops(const fb::Plan &plan, const fb::Entry &entry) {
  double flops = 0;
  for (const fb::Instruction *each : *entry.instructions())
    facts::forEachInside(*each, [&](const fb::Instruction &inner, uint64_t iterations) {
      flops += double(iterations) * productFlops(plan, inner);
    });
  return flops;
}

} // namespace

std::vector<SimulatedRow> instructionRows(const fb::Plan &plan, const Machine &machine) {
  Rows rows(plan, machine);
  for (const fb::Entry *entry : stepEntries(plan))
    rows.add(*entry, double(runsPerStep(plan, *entry)));
  return rows.take();
}

const Cluster &clusterOf(const fb::Plan &plan) {
  const TargetTraits &target = targetOf(plan);
  const PlanSettings settings(plan);
  const Cluster *named = target.hasComputeCapability ? clusterOfGpu(train::kGpu.of(settings)) : nullptr;
  return named ? *named : builtInCluster(target.cluster);
}

Result<Simulation> simulate(const fb::Plan &plan, const Cluster &cluster) {
  TRAINC_RETURN_IF_ERROR(requireSuited(plan, cluster));
  Simulation result;
  result.machine = cluster.machineOf(plan.ranks());
  result.tokens = plan.training() ? double(workPerStep(plan)) : 0;
  result.memory = memoryNeedOf(plan);
  const Machine &machine = result.machine;
  const std::vector<StreamSlowdown> slowdowns = streamSlowdowns(machine);
  result.streams.resize(slowdowns.size());
  const auto seconds = [&](const fb::Instruction &each) { return instructionSeconds(plan, each, machine); };
  for (ScheduledRuns &each : scheduleStep(plan, seconds, slowdowns, machine.copiesOutlastEntries)) {
    const auto times = double(each.runs);
    result.seconds += times * each.schedule.seconds;
    for (size_t stream = 0; stream < slowdowns.size(); ++stream) {
      result.streams[stream].busy += times * each.schedule.streams[stream].busy;
      result.streams[stream].exposed += times * each.schedule.streams[stream].exposed;
    }
    result.flops += times * double(each.entry->flops());
    result.executedFlops += times * executedFlops(plan, *each.entry);
    result.entries.push_back({view(each.entry->name()), each.runs, std::move(each.schedule)});
  }
  if (result.entries.empty())
    return invalidInput("the plan has no entry that a training step runs");
  result.rows = instructionRows(plan, machine);
  return result;
}

} // namespace trainc
