#include "lib/Pipelines/MemoryLimit.h"

#include "base/units.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Train/Offloading.h"
#include "dialects/Train/ProgramSettings.h"
#include "dialects/Train/Sharding.h"
#include "lib/Codegen/Target.h"
#include "lib/Pipelines/Settings.h"
#include "lib/Plan/EmittedPlan.h"
#include "plan/schema/limits.h"
#include "plan/settings/sizes.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace trainc {

/// Whether the settings leave open that the step computes in bf16. Another arithmetic of products than fma
/// exists only for fp32.
static bool mayComputeInBf16(train::ProgramOp program) {
  return !train::kPrecision.isSet(program) && train::kFp32Products.of(program) == train::Fp32Arithmetic::fma;
}

static std::string decidedForLimit(train::ProgramOp program) {
  Settings decided;
  for (const train::SettingInForce &setting : train::settingsInForce(program))
    if (train::findSetting(setting.word) && setting.source == "derived: memory_limit")
      decided.push_back({setting.word, setting.value});
  return asOptions(decided);
}

bool maySplitBatch(train::ProgramOp program) {
  return train::kMicroBatch.isSet(program) && !train::isFromOption(program, train::kMicroBatch.name) &&
         !train::isFromOption(program, train::kAccumulate.name) &&
         !train::shardingOf(program).reproducibleOverRanks;
}

/// Returns checkpointing modes that keep less than the present one, in order. A planner for the limit has
/// tried them already, and offloaded activations are not kept anyway.
static std::string moreCheckpointing(train::ProgramOp program) {
  if (train::isDerived(program, train::kActivationCheckpointing.name) ||
      train::offloadOf(program).activations)
    return "";
  const std::string full = "--activation-checkpointing=full";
  switch (train::kActivationCheckpointing.of(program)) {
  case train::Checkpointing::none:
    return "--activation-checkpointing=selective or " + full;
  case train::Checkpointing::selective:
    return full;
  case train::Checkpointing::full:
  case train::Checkpointing::budget:
    return "";
  }
  llvm_unreachable("unknown mode");
}

/// Returns the option that offloads activations, too. It is empty if they are offloaded, or if the planner
/// has decided about offloading, because it has then considered activations.
static std::string moreOffload(train::ProgramOp program) {
  const train::OffloadSettings offload = train::offloadOf(program);
  if (isDecided(program, train::kOffload) || offload.activations)
    return "";
  return "--offload=" + (offload.any() ? std::string(*train::kOffload.textIn(program)) + "," : "") +
         "activations";
}

std::optional<HostLimit> hostLimitOf(train::ProgramOp program) {
  if (!train::kHostMemory.isSet(program))
    return std::nullopt;
  const Machine reference = codegen::Target::chosenFor(program)->referenceMachine();
  return HostLimit{.bytes = *train::kHostMemory.given(program),
                   .ranks = std::min<int64_t>(train::kRanks.of(program), reference.nodeRanks),
                   .updates = train::offloadOf(program).updatesOnHost};
}

std::optional<MemoryLimit> memoryLimitOf(train::ProgramOp program) {
  const std::optional<int64_t> bytes = train::kMemoryLimit.given(program);
  if (!bytes)
    return std::nullopt;
  const bool computes = mayComputeInBf16(program);
  return MemoryLimit{
      .bytes = *bytes,
      .zeroStage = train::kZeroStage.of(program),
      .moreCheckpointing = moreCheckpointing(program),
      .moreOffload = moreOffload(program),
      .mayUseSmallerGroups =
          !train::offloadOf(program).roles.empty() && !isGiven(program, train::kOffloadGroup),
      .maySplitBatch = maySplitBatch(program),
      .combinedSamples = {},
      .decided = decidedForLimit(program),
      .mayComputeInBf16 = computes,
      .mayHoldParametersInBf16 = !train::kParamType.isSet(program) &&
                                 (computes || train::kPrecision.of(program) == train::Precision::bf16),
      .mayHoldMomentsInBf16 = !train::kOptimizerStates.isSet(program) && program.getOptimizer().hasMoments()};
}

std::string bytesByKind(const BytesByKind &memory) {
  SmallVector<std::pair<int64_t, StringRef>> kinds;
  for (const MemoryKind &kind : kMemoryKinds)
    kinds.push_back({memory.*kind.bytes, kind.name});
  llvm::sort(kinds, std::greater());
  std::string text;
  for (auto &[bytes, kind] : kinds)
    if (bytes > 0)
      text += llvm::formatv("{0}{1} {2} ({3:F0}%)", text.empty() ? "" : ", ", kind,
                            formatBytes(uint64_t(bytes)), 100.0 * double(bytes) / double(memory.total()));
  return text;
}

/// Returns why the micro-batch is not split; empty if its samples are independent.
static std::string whyBatchStays(const StepSizes &step, const MemoryLimit &given) {
  if (step.microBatch == 1 || given.combinedSamples.empty())
    return "";
  return llvm::formatv(
      "--micro-batch stays at {0}, because the loss combines the samples of a micro-batch ({1}): "
      "a smaller one keeps fewer activations, but changes the loss",
      step.microBatch, given.combinedSamples);
}

/// Returns advice that reduces memory proportional to the batch.
static std::string fewerActivations(const StepSizes &step, const MemoryReport &memory,
                                    const MemoryLimit &given, int64_t limit) {
  int64_t batch = step.microBatch, accumulate = step.accumulate;
  if (std::string reason = whyBatchStays(step, given); !reason.empty())
    return reason;
  if (given.maySplitBatch && batch > 1)
    return step.seqLen > 0 ? "a shorter --seq-len keeps fewer activations" : "make the model smaller";
  if (batch == 1)
    return step.seqLen > 0
               ? "the micro-batch is one sample already; a shorter --seq-len keeps fewer activations"
               : "the micro-batch is one sample already; make the model smaller";
  // With accumulation gradients persist; otherwise they reuse memory of activations.
  int64_t states = memory.parameters + memory.gradients + memory.optimizer;
  if (accumulate == 1 && states + memory.parameters > limit)
    return "a smaller --micro-batch keeps fewer activations (with --accumulate gradients would stay as well)";
  int64_t parts = batch % 2 == 0 ? 2 : batch;
  return llvm::formatv(
      "the same step in smaller micro-batches keeps fewer activations: --micro-batch={0} --accumulate={1}",
      batch / parts, accumulate * parts);
}

/// Returns advice for more sharding of states.
static std::string moreSharding(const StepSizes &step, int64_t zeroStage) {
  if (step.ranks == 1)
    return "--ranks=N --zero-stage=3 shards states over processes";
  if (zeroStage < 3)
    return "--zero-stage=3 shards all states over the ranks";
  return "more --ranks shard states further";
}

/// Returns advice that shrinks states, each followed by "; ".
static std::string smallerStates(const StepSizes &step, const MemoryLimit &given) {
  std::string text = moreSharding(step, given.zeroStage) + "; ";
  if (given.mayHoldParametersInBf16)
    text += std::string(given.mayComputeInBf16 ? "--precision=bf16 " : "") +
            "--param-type=bf16 holds parameters in bf16 alone; ";
  if (given.mayHoldMomentsInBf16)
    text += "--optimizer-states=bf16 holds moments in half the bytes; ";
  return text;
}

/// Returns advice, not about the batch, that keeps fewer bytes for the backward, each followed by "; ". bf16
/// is of use only if activations exceed parameters, because f32 parameters get bf16 copies.
static std::string smallerActivations(const MemoryReport &memory, const MemoryLimit &given) {
  std::string text;
  if (given.mayComputeInBf16 && memory.activations > memory.parameters)
    text += "--precision=bf16 keeps most activations in half the bytes; ";
  if (!given.moreCheckpointing.empty())
    text += given.moreCheckpointing + " keeps fewer activations; ";
  if (!given.moreOffload.empty() && given.hostThatFits == 0)
    text += given.moreOffload + " offloads activations; ";
  if (given.mayUseSmallerGroups)
    text += "a smaller --offload-group has less of the states in memory at a time; ";
  return text;
}

/// Returns advice that shrinks the plan to the limit. If no plan can fit, returns why the micro-batch is not
/// split, or nothing.
static std::string advice(const StepSizes &step, const MemoryReport &memory, const MemoryLimit &given) {
  const int64_t limit = given.bytes - memory.unplanned;
  if (limit <= 0)
    return memory.isReserve ? "reserve less (--reserve-memory)" : whyBatchStays(step, given);
  int64_t states = memory.parameters + memory.gradients + memory.optimizer;
  if (states > limit)
    return llvm::formatv(
        "parameters, gradients and optimizer states alone take {0}, whatever the batch; {1}else freeze "
        "parameters (group \"NAME\" frozen), use sgd, or make the model smaller",
        formatNeededBytes(uint64_t(states)), smallerStates(step, given));
  return (2 * states > limit ? smallerStates(step, given) : "") + smallerActivations(memory, given) +
         fewerActivations(step, memory, given, limit);
}

/// Returns advice about host memory, followed by "; ".
static std::string moreOfTheHost(const MemoryLimit &given) {
  if (given.hostThatFits == 0)
    return "";
  return llvm::formatv("a plan that fits needs more host memory: --host-memory={0}; ",
                       sizeOfAtLeast(uint64_t(given.hostThatFits)));
}

std::string hostShortage(const MemoryReport &memory, const HostLimit &host) {
  const int64_t bytes = memory.host.total();
  std::string together;
  if (host.ranks > 1)
    together = llvm::formatv(" for each of the {0} ranks of a node, together {1} ({2} bytes)", host.ranks,
                             formatNeededBytes(uint64_t(host.ranks * bytes)), host.ranks * bytes);
  return llvm::formatv(
      "{0} ({1} bytes) of the host's memory{2}; the host may give {3} ({4} bytes; host_memory): {5}; "
      "allow more (--host-memory), or offload less (--offload){6}",
      formatNeededBytes(uint64_t(bytes)), bytes, together, formatBytes(uint64_t(host.bytes)), host.bytes,
      bytesByKind(memory.host), host.updates ? ", or have the GPU update (--offload-update=device)" : "");
}

/// Returns the settings that were chosen for the limit, followed by ", ".
static std::string whatWasDecided(const MemoryLimit &limit, bool isHostShort) {
  if (limit.decided.empty())
    return "";
  return llvm::formatv("with {0}, which takes the least memory of all planned strategies{1}, ", limit.decided,
                       limit.hostThatFits > 0 && !isHostShort ? " and fits into the host's memory" : "");
}

static std::string shortage(const StepSizes &step, const MemoryReport &memory, const MemoryLimit &limit) {
  const std::string others = moreOfTheHost(limit) + advice(step, memory, limit);
  return llvm::formatv(
      "{0}: {1} for its buffers ({2}) and {3}{4}; the memory limit is {5} ({6} bytes); the plan fits into "
      "--memory-limit={7}{8}{9}",
      formatNeededBytes(uint64_t(memory.needed())), formatBytes(uint64_t(memory.limited())),
      bytesByKind(memory), formatBytes(uint64_t(memory.unplanned)),
      memory.isReserve ? " of the GPU for the driver and libraries (reserve_memory)"
                       : " for the rest of the process",
      formatBytes(uint64_t(limit.bytes)), limit.bytes, sizeOfAtLeast(uint64_t(memory.needed())),
      others.empty() ? "" : "; or: ", others);
}

/// Fails if the arenas exceed the maximum of a plan, because trainrun would reject them.
static LogicalResult checkArenas(ModuleOp module, plan::TrainingOp training) {
  int64_t together = 0;
  for (auto arena : module.getOps<plan::ArenaOp>())
    if (llvm::AddOverflow(together, int64_t(arena.getBytes()), together) ||
        together > int64_t(kMaxArenaBytes))
      return training->emitError() << "the plan's arena '" << arena.getSymName() << "' has "
                                   << arena.getBytes() << " bytes; expected at most " << kMaxArenaBytes
                                   << " (" << formatBytes(kMaxArenaBytes)
                                   << ") in all arenas together; make the batch or the model smaller";
  return success();
}

StepSizes stepSizesOf(train::ProgramOp program) {
  return {.microBatch = train::kMicroBatch.given(program).value_or(0),
          .accumulate = train::kAccumulate.of(program),
          .seqLen = train::kSeqLen.given(program).value_or(0),
          .ranks = train::kRanks.of(program)};
}

LogicalResult checkMemory(Operation *op, const StepSizes &step, const MemoryReport &memory,
                          const std::optional<MemoryLimit> &limit, const std::optional<HostLimit> &host) {
  const bool isHostShort = host && memory.host.total() > host->share();
  if (!isHostShort && (!limit || memory.needed() <= limit->bytes))
    return success();
  return op->emitError() << (limit ? whatWasDecided(*limit, isHostShort) : "") << "the plan needs "
                         << (isHostShort ? hostShortage(memory, *host) : shortage(step, memory, *limit));
}

LogicalResult checkPlanMemory(ModuleOp module, const std::optional<MemoryLimit> &limit,
                              const std::optional<HostLimit> &host) {
  plan::TrainingOp training = *module.getOps<plan::TrainingOp>().begin();
  if (failed(checkArenas(module, training)))
    return failure();
  const StepSizes step{.microBatch = int64_t(training.getMicroBatch()),
                       .accumulate = int64_t(training.getAccumulate()),
                       .seqLen = int64_t(training.getSeqLen()),
                       .ranks = dist::meshOf(module).ranks()};
  return checkMemory(training, step, memoryReport(module, *EmittedPlan(module)), limit, host);
}

} // namespace trainc
