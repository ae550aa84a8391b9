#include "lib/Pipelines/Unsharding.h"

#include "dialects/Train/Train.h"
#include "lib/Pipelines/Report.h"
#include "lib/Pipelines/Sharding.h"

using namespace mlir;

namespace trainc {

/// Plans that are tried between keeping all and keeping nothing.
static constexpr int kTries = 3;

static LogicalResult apply(ModuleOp module, const ShardingOptions &options) {
  for (auto program : module.getOps<train::ProgramOp>())
    if (failed(applySharding(program, options)))
      return failure();
  return success();
}

/// Whether the module's program divides parameters, and leaves what the words say to the compiler.
static bool isOpen(ModuleOp module, ArrayRef<StringRef> words) {
  return llvm::all_of(module.getOps<train::ProgramOp>(), [&](train::ProgramOp program) {
    train::ShardingAttr given = program.getShardingAttr();
    return program.getRanks() > 1 && program.getZeroStage() == 3 &&
           llvm::none_of(words, [&](StringRef word) { return given && given.getWords().get(word); });
  });
}

/// Elements of all parameters that ranks divide.
static int64_t dividedElements(ModuleOp module) {
  int64_t elements = 0;
  for (auto state : module.getOps<train::StateOp>())
    if (state.getRole() == train::Role::parameter && state.getDivided())
      for (auto member : state.getMembersAttr().getAsRange<train::MemberAttr>())
        elements += cast<RankedTensorType>(member.getType()).getNumElements();
  return elements;
}

namespace {

/// Whether plans of a module with some settings fit.
struct Trial {
  ModuleOp module;
  int64_t limit;
  llvm::function_ref<void(PassManager &)> planPasses;

  FailureOr<bool> fits(const ShardingOptions &options) {
    OwningOpRef<ModuleOp> copy = module.clone();
    PassManager manager(module.getContext());
    manager.enableVerifier(false); // the plan that is taken is verified
    planPasses(manager);
    if (failed(apply(*copy, options)) || failed(manager.run(*copy)))
      return failure();
    const MemoryReport memory = memoryReport(*copy);
    return memory.peak + memory.unplanned <= limit;
  }
};

/// About the largest distance whose plan fits; 0 where none is known to.
FailureOr<int64_t> fittingDistance(Trial &trial) {
  auto fits = [&](int64_t distance) {
    ShardingOptions options;
    options.maxReuseDistance = distance;
    return trial.fits(options);
  };
  // Between a unit's forward and its backward each other unit is read twice at most.
  int64_t fitting = 0, tooFar = 2 * dividedElements(trial.module) + 1;
  FailureOr<bool> good = fits(tooFar);
  if (succeeded(good) && *good)
    fitting = tooFar;
  for (int i = 0; i < kTries && succeeded(good) && fitting < tooFar; ++i) {
    const int64_t middle = fitting + (tooFar - fitting) / 2;
    good = fits(middle);
    if (succeeded(good))
      (*good ? fitting : tooFar) = middle;
  }
  if (failed(good))
    return failure();
  return fitting;
}

} // namespace

LogicalResult gatherWhatFits(ModuleOp module, int64_t limit,
                             llvm::function_ref<void(PassManager &)> planPasses) {
  Trial trial{module, limit, planPasses};
  ShardingOptions options;
  if (isOpen(module, {"max_reuse_distance", "reshard_after_forward"})) {
    FailureOr<int64_t> distance = fittingDistance(trial);
    if (failed(distance))
      return failure();
    options.maxReuseDistance = *distance;
  }
  if (options.maxReuseDistance.value_or(0) == 0 && isOpen(module, {"prefetch"})) {
    FailureOr<bool> good = trial.fits(options);
    if (failed(good))
      return failure();
    if (!*good)
      options.prefetch = 0;
  }
  return apply(module, options);
}

} // namespace trainc
