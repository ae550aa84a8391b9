#include "lib/Pipelines/CheckpointBudget.h"

#include "dialects/Train/ProgramSettings.h"
#include "lib/Pipelines/MemoryLimit.h"
#include "lib/Pipelines/Unsharding.h"
#include "lib/Remat/BlockUses.h"

using namespace mlir;

namespace trainc {

/// Shares of their bytes that uses of blocks keep, one after the other, in percent.
static constexpr int64_t kShares[] = {60, 30, 15, 0};
/// How many candidates there are of each share: for this part of the uses, twice, ... and all.
static constexpr int64_t kParts = 4;

static int64_t usesOf(ModuleOp step) {
  for (auto program : step.getOps<train::ProgramOp>()) {
    const train::CheckpointSettings settings = train::checkpointsOf(program);
    return countUses(step, {.blocks = settings.blocks, .every = settings.every});
  }
  return 0;
}

/// The first `count` uses keep one share, the others another.
static TriedSettings keeping(int64_t count, int64_t share, int64_t otherShare, StringRef rest) {
  const std::string repeated = count > 1 ? std::to_string(count) + "x" : "";
  const std::string first = count > 0 ? repeated + std::to_string(share) + "," : "";
  return {{"checkpoint_keep", first + std::to_string(otherShare)}, {"checkpoint_rest", rest.str()}};
}

std::vector<TriedSettings> checkpointLevels(ModuleOp step) {
  const int64_t uses = usesOf(step);
  std::vector<TriedSettings> levels = {keeping(0, 0, 100, "none"), keeping(0, 0, 100, "selective")};
  int64_t before = 100;
  for (const int64_t share : kShares) {
    int64_t last = 0;
    for (int64_t part = 1; part <= kParts; ++part)
      if (const int64_t count = uses * part / kParts; count > last) {
        levels.push_back(keeping(count, share, before, "selective"));
        last = count;
      }
    before = share;
  }
  return levels;
}

std::vector<TriedSettings> checkpointCandidates(ModuleOp step) {
  std::vector<TriedSettings> candidates = checkpointLevels(step);
  if (isOpen(step, {"max_reuse_distance", "reshard_after_forward"}))
    for (const TriedSettings &settings : std::vector(candidates)) {
      candidates.push_back(settings);
      candidates.back().push_back({"reshard_after_forward", "false"});
    }
  if (isOpen(step, {"prefetch"})) {
    candidates.push_back(keeping(0, 0, 0, "selective"));
    candidates.back().push_back({"prefetch", "0"});
  }
  return candidates;
}

static LogicalResult refuse(ModuleOp module, const CandidatePlan &least, int64_t limit) {
  train::ProgramOp program = *module.getOps<train::ProgramOp>().begin();
  if (least.hostLeft < 0)
    return program.emitError() << "activation_checkpointing budget: each plan needs at least "
                               << hostShortage(least.memory, *hostLimitOf(program));
  return program.emitError() << "activation_checkpointing budget: no plan fits into the memory limit of "
                             << formatBytes(limit) << " (" << limit
                             << " bytes); the smallest limit that one fits into is " << least.bytes()
                             << " bytes (" << formatBytes(least.bytes()) << ", of which "
                             << formatBytes(least.memory.unplanned)
                             << " lie outside the plan): " << bytesByKind(least.memory)
                             << "; allow so much, or make the micro-batch or the model smaller";
}

/// Plans each of the settings, by several threads.
static FailureOr<std::vector<CandidatePlan>> planAll(ModuleOp module, const Strategy &strategy,
                                                     ArrayRef<TriedSettings> settings) {
  const Candidates step(module.clone(), strategy);
  std::vector<std::optional<CandidatePlan>> made(settings.size());
  const auto planOne = [&](size_t i) -> LogicalResult {
    FailureOr<CandidatePlan> plan = step.plan(settings[i]);
    if (succeeded(plan))
      made[i] = *plan;
    return plan;
  };
  if (failed(planEach(module.getContext(), settings.size(), /*firstAlone=*/true, planOne)))
    return failure();
  std::vector<CandidatePlan> plans;
  for (const std::optional<CandidatePlan> &plan : made)
    plans.push_back(*plan);
  return plans;
}

LogicalResult chooseCheckpoints(ModuleOp module, const Strategy &strategy, int64_t limit) {
  const std::vector<TriedSettings> candidates = checkpointCandidates(module);
  const FailureOr<std::vector<CandidatePlan>> plans = planAll(module, strategy, candidates);
  if (failed(plans))
    return failure();
  const CandidatePlan *least = &plans->front(), *best = nullptr;
  for (const CandidatePlan &plan : *plans) {
    if (plan.isSmaller(*least))
      least = &plan;
    if (plan.fits(limit) && (!best || plan.step.total < best->step.total))
      best = &plan;
  }
  if (!best)
    return refuse(module, *least, limit);
  for (auto program : module.getOps<train::ProgramOp>())
    train::setDerived(program, candidates[size_t(best - plans->data())], "memory_limit");
  return success();
}

} // namespace trainc
