#include "lib/Analysis/CostModel.h"

#include "lib/Analysis/InstructionCost.h"
#include "lib/Analysis/Outlasting.h"
#include "lib/Support/StoredElement.h"
#include "plan/cost/entry_runs.h"

using namespace mlir;

namespace trainc {

static size_t numberOf(plan::Stream stream) { return static_cast<size_t>(stream); }

static std::vector<Task> tasksOf(plan::EntryOp entry, plan::TrainingOp training,
                                 const plan::ModuleContext &context, const Machine &machine) {
  static_assert(uint32_t(plan::Stream::compute) == Task::kComputeStream);
  std::vector<Task> tasks;
  for (auto instruction : entry.getBody().getOps<plan::InstructionOpInterface>()) {
    auto collective = dyn_cast<plan::CollectiveOp>(*instruction);
    const ArrayRef<int64_t> after = instruction.getAfterOrNone();
    tasks.push_back({.stream = uint32_t(numberOf(instruction.getStream())),
                     .seconds = collective ? collectiveSeconds(collective, training, machine)
                                           : instructionSeconds(*instruction, context, machine),
                     .after = {after.begin(), after.end()}});
  }
  if (machine.copiesOutlastEntries)
    for (const uint32_t copy : outlastingCopies(entry, context))
      tasks[copy].outlasts = true;
  return tasks;
}

StepSeconds predictSeconds(ArrayRef<EntryInStep> entries, const Machine &machine) {
  if (entries.empty())
    return {};
  auto module = entries.front().entry->getParentOfType<ModuleOp>();
  plan::TrainingOp training = *module.getOps<plan::TrainingOp>().begin();
  const InstructionUses uses(module);
  std::vector<EntryTasks> tasks;
  for (const EntryInStep &each : entries)
    tasks.push_back({tasksOf(each.entry, training, uses.context(), machine), each.runs});
  const auto waits = [&](size_t previous, size_t entry) {
    return outlastingWaits(entries[previous].entry, entries[entry].entry, uses);
  };
  std::vector<StreamSlowing> slowing(plan::getMaxEnumValForStream() + 1);
  const size_t link = numberOf(plan::Stream::communication);
  slowing[link].share = machine.linkShareBesideCompute;
  slowing[numberOf(plan::Stream::disk)].taken = machine.diskComputeSeconds;
  StepSeconds step;
  for (const EntryRuns &each : runStep(tasks, waits, slowing)) {
    const auto runs = double(each.runs);
    step.total += runs * each.schedule.seconds;
    step.communication += runs * each.schedule.streams[link].busy;
    step.exposed += runs * each.schedule.streams[link].exposed;
  }
  return step;
}

RankGroupShape shapeOf(RankGroup group, int64_t ranks, int64_t shardRanks) {
  return {.all = uint32_t(ranks),
          .members = uint32_t(ranksOf(group, ranks, shardRanks)),
          .stride = group == RankGroup::replica ? uint32_t(shardRanks) : 1};
}

static RankGroupShape shapeOf(plan::CollectiveOp collective, plan::TrainingOp training) {
  return shapeOf(collective.getGroup(), int64_t(training.getRanks()), int64_t(training.getShardRanks()));
}

static bool isAllReduce(plan::CollectiveOp collective) {
  return collective.getKind() == CollectiveKind::all_reduce;
}

int64_t ringBytes(plan::CollectiveOp collective, plan::TrainingOp training) {
  const int64_t members = shapeOf(collective, training).members;
  int64_t sent = 0;
  for (auto range : collective.getRanges().getAsRange<plan::RangeAttr>())
    sent +=
        ringBytes(isAllReduce(collective), range.getElements() * elementBytes(range.getElement()), members);
  return sent;
}

double collectiveSeconds(plan::CollectiveOp collective, plan::TrainingOp training, const Machine &machine) {
  return collectiveSeconds(shapeOf(collective, training), isAllReduce(collective),
                           double(ringBytes(collective, training)), machine);
}

} // namespace trainc
