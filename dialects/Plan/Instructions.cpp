// Instructions without library calls: the bytes that they access, and their work.
#include "dialects/Plan/Plan.h"
#include "plan/schema/limits.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::plan;

ModuleContext::ModuleContext(ModuleOp module) : symbols_(module) {
  for (auto training : module.getOps<TrainingOp>()) {
    ranks_ = int64_t(training.getRanks());
    shardRanks_ = int64_t(training.getShardRanks());
  }
}

// --- Launches ---

static Worker workerOf(KernelOp kernel) {
  if (kernel.getOnHost())
    return Worker::HostCores;
  switch (kernel.getKind()) {
  case KernelKind::gemm: // GPU kernels of products (many threads) use no tensor cores
    return kernel.getThreads() > 1 ? Worker::Arithmetic : Worker::Products;
  case KernelKind::attention:
    return Worker::Attention;
  case KernelKind::rows:
  case KernelKind::copy:
  case KernelKind::scatter:
  case KernelKind::rank_sum:
    return Worker::Arithmetic;
  }
  llvm_unreachable("unknown kind of kernel");
}

Factor plan::factorOf(Type element) {
  if (isa_and_nonnull<Float8E4M3FNType, Float8E5M2Type>(element))
    return Factor::Byte;
  if (!element)
    return Factor::Full;
  return element.isBF16() ? Factor::Bf16 : element.isF16() ? Factor::F16 : Factor::Full;
}

Work KernelOp::getWork() {
  int64_t bytes = 0;
  Type first; // element type of a product's factor or of the attention queries
  for (auto param : getParams().getAsRange<ParamAttr>()) {
    bytes += param.getBytes() * (param.getAccess() == Access::read_write ? 2 : 1);
    first = first ? first : param.getElement();
  }
  return {.worker = workerOf(*this),
          .factor = factorOf(first),
          .flops = double(getFlops()),
          .arithmetic = double(getArithmetic()),
          .bytes = double(getMovedBytes().value_or(bytes)),
          .threads = double(getGrid()) * double(getThreads()),
          .chain = double(getChain())};
}

SmallVector<OperandUse> LaunchOp::getUses(const ModuleContext &context) {
  SmallVector<OperandUse> uses;
  for (auto [operand, param] : llvm::zip(getArgs().getAsRange<OperandAttr>(),
                                         context.kernel(getKernel()).getParams().getAsRange<ParamAttr>()))
    uses.push_back({.operand = operand,
                    .bytes = param.getBytes(),
                    .reads = param.getAccess() != Access::write,
                    .writes = param.getAccess() != Access::read});
  return uses;
}

std::optional<Work> LaunchOp::getWork(const ModuleContext &context) {
  return context.kernel(getKernel()).getWork();
}

std::string LaunchOp::describe() { return getKernel().str(); }

// --- Bytes that move as they are ---

static OperandUse readOf(OperandAttr operand, int64_t bytes) {
  return {.operand = operand, .bytes = bytes, .reads = true, .writes = false};
}

static OperandUse writeOf(OperandAttr operand, int64_t bytes) {
  return {.operand = operand, .bytes = bytes, .reads = false, .writes = true};
}

/// A disk transfers whole blocks; the buffer in memory is large enough for them.
SmallVector<OperandUse> CopyOp::getUses(const ModuleContext &context) {
  const auto bytesAt = [&](OperandAttr operand) {
    auto arena = context.symbols().lookup<ArenaOp>(context.buffer(operand).getArenaAttr().getAttr());
    const bool movesBlocks = getStream() == Stream::disk && arena.getSpace() != Space::disk;
    return int64_t(movesBlocks ? wholeBlocks(getBytes()) : getBytes());
  };
  return {readOf(getSource(), bytesAt(getSource())), writeOf(getDestination(), bytesAt(getDestination()))};
}

Work plan::workOfCopy(Space source, Space destination, double bytes) {
  if (source == Space::disk)
    return {.worker = Worker::DiskRead, .bytes = bytes};
  if (destination == Space::disk)
    return {.worker = Worker::DiskWrite, .bytes = bytes};
  if (source != destination)
    return {.worker = Worker::HostLink, .bytes = bytes};
  return {.bytes = 2 * bytes};
}

std::optional<Work> CopyOp::getWork(const ModuleContext &context) {
  const auto spaceOf = [&](OperandAttr operand) {
    auto arena = context.symbols().lookup<ArenaOp>(context.buffer(operand).getArenaAttr().getAttr());
    return arena ? arena.getSpace() : Space::device;
  };
  return workOfCopy(spaceOf(getSource()), spaceOf(getDestination()), double(getBytes()));
}

SmallVector<OperandUse> ZeroOp::getUses(const ModuleContext &) {
  return {writeOf(getDestination(), int64_t(getBytes()))};
}

std::optional<Work> ZeroOp::getWork(const ModuleContext &) { return Work{.bytes = double(getBytes())}; }

// --- Collectives ---

static int64_t bytesOf(Type element) { return int64_t(element.getIntOrFloatBitWidth()) / 8; }

SmallVector<OperandUse> CollectiveOp::getUses(const ModuleContext &context) {
  SmallVector<OperandUse> uses;
  const bool gathers = getKind() == CollectiveKind::all_gather,
             scatters = getKind() == CollectiveKind::reduce_scatter;
  for (auto range : getRanges().getAsRange<RangeAttr>()) {
    const int64_t whole = range.getElements(), part = whole / context.members(getGroup());
    uses.push_back(readOf(range.getSource(), (gathers ? part : whole) * bytesOf(range.getElement())));
    uses.push_back(
        writeOf(range.getDestination(), (scatters ? part : whole) * bytesOf(range.getDestinationElement())));
    if (range.getWorkspace()) {
      uses.push_back(writeOf(range.getWorkspace(), range.getWorkspaceBytes()));
      uses.back().isWorkspace = true;
    }
  }
  return uses;
}

std::optional<Work> CollectiveOp::getWork(const ModuleContext &) { return std::nullopt; }

// --- Loops ---

SmallVector<OperandUse> LoopOp::getUses(const ModuleContext &context) {
  SmallVector<OperandUse> uses;
  for (auto inner : getBody().getOps<InstructionOpInterface>())
    for (OperandUse &use : inner.getUses(context)) {
      use.iterations *= int64_t(getCount());
      uses.push_back(use);
    }
  return uses;
}

std::optional<Work> LoopOp::getWork(const ModuleContext &) { return std::nullopt; }
