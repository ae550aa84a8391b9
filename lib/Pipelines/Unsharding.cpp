#include "lib/Pipelines/Unsharding.h"

#include "dialects/Train/ProgramSettings.h"
#include "lib/Pipelines/Report.h"

using namespace mlir;

namespace trainc {

/// Plans that are tried between keeping all and keeping nothing.
static constexpr int kTries = 3;

namespace {

/// Words of `sharding` that the compiler decides, as far as it does.
struct Choice {
  std::optional<int64_t> maxReuseDistance, prefetch;
};

} // namespace

static void apply(ModuleOp module, const Choice &choice) {
  Builder builder(module.getContext());
  for (auto program : module.getOps<train::ProgramOp>())
    for (auto [word, value] :
         {std::pair("max_reuse_distance", choice.maxReuseDistance), {"prefetch", choice.prefetch}})
      if (value)
        train::setDerived(program, word, builder.getI64IntegerAttr(*value), "memory_limit");
}

bool isOpen(ModuleOp module, ArrayRef<StringRef> words) {
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
    if (state.getRole() == train::StateRole::parameter && state.getDivided())
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

  FailureOr<bool> fits(const Choice &choice) {
    OwningOpRef<ModuleOp> copy = module.clone();
    PassManager manager(module.getContext());
    manager.enableVerifier(false); // the plan that is taken is verified
    planPasses(manager);
    apply(*copy, choice);
    if (failed(manager.run(*copy)))
      return failure();
    return memoryReport(*copy).needed() <= limit;
  }
};

/// About the largest distance whose plan fits; 0 where none is known to.
FailureOr<int64_t> fittingDistance(Trial &trial) {
  auto fits = [&](int64_t distance) {
    return trial.fits({.maxReuseDistance = distance, .prefetch = std::nullopt});
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
  Choice choice;
  if (isOpen(module, {"max_reuse_distance", "reshard_after_forward"})) {
    FailureOr<int64_t> distance = fittingDistance(trial);
    if (failed(distance))
      return failure();
    choice.maxReuseDistance = *distance;
  }
  if (choice.maxReuseDistance.value_or(0) == 0 && isOpen(module, {"prefetch"})) {
    FailureOr<bool> good = trial.fits(choice);
    if (failed(good))
      return failure();
    if (!*good)
      choice.prefetch = 0;
  }
  apply(module, choice);
  return success();
}

} // namespace trainc
