#include "lib/Analysis/CostModel.h"

#include "dialects/NN/NN.h"
#include "lib/Analysis/InstructionCost.h"
#include "lib/Support/StoredElement.h"

#include "mlir/IR/TypeUtilities.h"

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
  SymbolTable symbols(entry->getParentOp());
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
      const double takes = instructionSeconds(*instruction, symbols, machine);
      link.compute(takes);
      times.total += takes;
    }
    ++index;
  }
  expose(link.waitForAll());
  times.communication = link.busySeconds();
  return times;
}

int64_t ranksOf(RankGroup group, int64_t ranks, int64_t shardRanks) {
  switch (group) {
  case RankGroup::all:
    return ranks;
  case RankGroup::shard:
    return shardRanks;
  case RankGroup::replica:
    return ranks / shardRanks;
  }
  llvm_unreachable("unknown group of ranks");
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

static double bytesOf(TypeRange types) {
  double bytes = 0;
  for (Type type : types)
    if (isa<RankedTensorType>(type))
      bytes += double(tensorBytes(type));
  return bytes;
}

/// By the type of a product's first factor, or of attention's queries.
static double workRate(ExecutableOpInterface op, const Machine &machine) {
  const KernelClass kernel = op.getKernelClass();
  if (kernel == KernelClass::Gemm)
    return productRate(getElementTypeOrSelf(op->getOperand(0)), machine);
  if (kernel == KernelClass::Attention || kernel == KernelClass::AttentionGrad)
    return attentionRate(getElementTypeOrSelf(op->getOperand(0)), machine);
  return machine.flopsPerSecond;
}

double computeSeconds(Operation &op, const Machine &machine) {
  if (auto loop = dyn_cast<nn::ChunksOp>(op)) {
    double total = 0;
    for (Operation &inner : loop.getBody().front())
      total += computeSeconds(inner, machine);
    return double(loop.getCount()) * total;
  }
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  if (!executable || !isGenerated(executable.getKernelClass()))
    return 0;
  auto cost = dyn_cast<CostOpInterface>(op);
  const double flops = cost ? double(cost.getFlops()) : 0,
               bytes = bytesOf(op.getOperandTypes()) + bytesOf(op.getResultTypes());
  const Cost total{.flops = flops,
                   .bytes = bytes,
                   .workSeconds = flops / workRate(executable, machine),
                   .byteSeconds = bytes / machine.bytesPerSecond,
                   .launchSeconds = machine.launchSeconds};
  return total.seconds();
}

double collectiveSeconds(double bytesSent, const Machine &machine) {
  return machine.meetSeconds + bytesSent / machine.linkBytesPerSecond;
}

} // namespace trainc
