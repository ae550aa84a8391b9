#include "lib/Analysis/CostModel.h"

#include "dialects/NN/NN.h"
#include "lib/Support/StoredElement.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace trainc {

static double seconds(double flops, double bytes, const Machine &machine) {
  return machine.launchSeconds + std::max(flops / machine.flopsPerSecond, bytes / machine.bytesPerSecond);
}

/// That of a matrix product with such factors.
static double productSeconds(double flops, double bytes, Type factor, Machine machine) {
  if (factor.isBF16())
    machine.flopsPerSecond = machine.bf16FlopsPerSecond;
  return seconds(flops, bytes, machine);
}

static double launchSeconds(plan::LaunchOp launch, const SymbolTable &symbols, const Machine &machine) {
  auto kernel = symbols.lookup<plan::KernelOp>(launch.getKernel());
  if (!kernel)
    return machine.launchSeconds;
  double bytes = 0;
  for (auto param : kernel.getParams().getAsRange<plan::ParamAttr>())
    bytes += double(param.getBytes()) * (param.getAccess() == plan::Access::read_write ? 2 : 1);
  if (kernel.getKind() != plan::KernelKind::gemm)
    return seconds(double(kernel.getFlops()), bytes, machine);
  auto factor = *kernel.getParams().getAsRange<plan::ParamAttr>().begin();
  return productSeconds(double(kernel.getFlops()), bytes, factor.getElement(), machine);
}

/// Products of short factors, and of rounded ones at half their rate, are those of the matrix units.
static Machine ratesFor(plan::LibraryCallOpInterface call, Machine machine) {
  auto product = dyn_cast<plan::MatrixProductOp>(*call);
  if (product && product.getFactors())
    machine.flopsPerSecond = machine.bf16FlopsPerSecond;
  else if (product && product.getTf32())
    machine.flopsPerSecond = machine.bf16FlopsPerSecond / 2;
  return machine;
}

static double callSeconds(plan::LibraryCallOpInterface call, const Machine &machine) {
  double bytes = 0;
  for (const plan::OperandUse &use : call.getOperandUses())
    bytes += double(use.bytes) * (use.reads && use.writes ? 2 : 1);
  return seconds(call.getFlops(), bytes, ratesFor(call, machine));
}

static double blockSeconds(Block &block, const SymbolTable &symbols, const Machine &machine);

/// Of an instruction other than collectives.
static double instructionSeconds(Operation &op, const SymbolTable &symbols, const Machine &machine) {
  if (auto launch = dyn_cast<plan::LaunchOp>(op))
    return launchSeconds(launch, symbols, machine);
  if (auto call = dyn_cast<plan::LibraryCallOpInterface>(op))
    return callSeconds(call, machine);
  if (auto copy = dyn_cast<plan::CopyOp>(op))
    return seconds(0, 2.0 * double(copy.getBytes()), machine);
  if (auto zero = dyn_cast<plan::ZeroOp>(op))
    return seconds(0, double(zero.getBytes()), machine);
  if (auto loop = dyn_cast<plan::LoopOp>(op))
    return double(loop.getCount()) * blockSeconds(loop.getBody().front(), symbols, machine);
  return 0;
}

static double blockSeconds(Block &block, const SymbolTable &symbols, const Machine &machine) {
  double total = 0;
  for (Operation &op : block)
    total += instructionSeconds(op, symbols, machine);
  return total;
}

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
  return executable.getKernelClass() == KernelClass::Gemm
             ? productSeconds(flops, bytes, getElementTypeOrSelf(op.getOperand(0)), machine)
             : seconds(flops, bytes, machine);
}

double collectiveSeconds(double bytesSent, const Machine &machine) {
  return machine.meetSeconds + bytesSent / machine.linkBytesPerSecond;
}

} // namespace trainc
