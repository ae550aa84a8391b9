#include "lib/Analysis/CostModel.h"

#include "lib/Analysis/InstructionCost.h"
#include "lib/Support/StoredElement.h"
#include "runtime/cost/events.h"

using namespace mlir;

namespace trainc {

static size_t numberOf(plan::Stream stream) { return static_cast<size_t>(stream); }

EntrySeconds predictSeconds(plan::EntryOp entry, plan::TrainingOp training, const Machine &machine) {
  static_assert(uint32_t(plan::Stream::compute) == Task::kComputeStream);
  const plan::Surroundings around(entry->getParentOfType<ModuleOp>());
  std::vector<Task> tasks;
  for (auto instruction : entry.getBody().getOps<plan::InstructionOpInterface>()) {
    auto collective = dyn_cast<plan::CollectiveOp>(*instruction);
    const ArrayRef<int64_t> after = instruction.getAfterOrNone();
    tasks.push_back({.stream = uint32_t(numberOf(instruction.getStream())),
                     .seconds = collective ? collectiveSeconds(collective, training, machine)
                                           : instructionSeconds(*instruction, around, machine),
                     .after = {after.begin(), after.end()}});
  }
  std::vector<double> shares(plan::getMaxEnumValForStream() + 1, 1);
  shares[numberOf(plan::Stream::communication)] = machine.linkShareBesideCompute;
  const Schedule schedule = runTasks(tasks, shares);
  const StreamSeconds &link = schedule.streams[numberOf(plan::Stream::communication)];
  return {.total = schedule.seconds, .communication = link.busy, .exposed = link.exposed};
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
