#include "lib/Analysis/CostModel.h"

#include "lib/Analysis/InstructionCost.h"
#include "lib/Support/StoredElement.h"

using namespace mlir;

namespace trainc {

void LinkTimeline::compute(double seconds) {
  while (!queue.empty() && seconds > 0) {
    Collective &first = queue.front();
    const double takes = first.left / share, passes = std::min(takes, seconds);
    busy += passes;
    seconds -= passes;
    first.left -= passes * share;
    if (takes <= passes)
      queue.pop_front();
  }
}

double LinkTimeline::wait(int64_t number) {
  double waits = 0;
  while (llvm::any_of(queue, [&](const Collective &each) { return each.number == number; })) {
    waits += queue.front().left;
    queue.pop_front();
  }
  busy += waits;
  return waits;
}

EntrySeconds predictSeconds(plan::EntryOp entry, plan::TrainingOp training, const Machine &machine) {
  const plan::Surroundings around(entry->getParentOfType<ModuleOp>());
  EntrySeconds times;
  LinkTimeline link(machine.linkShareBesideCompute);
  const auto expose = [&](double waits) {
    times.exposed += waits;
    times.total += waits;
  };
  int64_t index = 0;
  for (auto instruction : entry.getBody().getOps<plan::InstructionOpInterface>()) {
    if (auto collective = dyn_cast<plan::CollectiveOp>(*instruction)) {
      link.start(index, collectiveSeconds(double(ringBytes(collective, training)), machine));
    } else {
      for (const int64_t other : instruction.getAfterOrNone())
        expose(link.wait(other));
      const double takes = instructionSeconds(*instruction, around, machine);
      link.compute(takes);
      times.total += takes;
    }
    ++index;
  }
  expose(link.waitForAll());
  times.communication = link.busySeconds();
  return times;
}

int64_t ringBytes(CollectiveKind kind, int64_t bytes, int64_t ranks) {
  return (kind == CollectiveKind::all_reduce ? 2 : 1) * bytes * (ranks - 1) / ranks;
}

int64_t ringBytes(plan::CollectiveOp collective, plan::TrainingOp training) {
  const int64_t ranks =
      ranksOf(collective.getGroup(), int64_t(training.getRanks()), int64_t(training.getShardRanks()));
  int64_t sent = 0;
  for (auto range : collective.getRanges().getAsRange<plan::RangeAttr>())
    sent += ringBytes(collective.getKind(), range.getElements() * elementBytes(range.getElement()), ranks);
  return sent;
}

double collectiveSeconds(double bytesSent, const Machine &machine) {
  return machine.meetSeconds + bytesSent / machine.linkBytesPerSecond;
}

} // namespace trainc
