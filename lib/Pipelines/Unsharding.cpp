#include "lib/Pipelines/Unsharding.h"

#include "dialects/Train/Train.h"
#include "lib/Pipelines/Report.h"
#include "lib/Pipelines/Sharding.h"

using namespace mlir;

namespace trainc {

/// Plans that are tried between keeping all and keeping nothing.
static constexpr int kTries = 3;

static LogicalResult setReuseDistance(ModuleOp module, int64_t elements) {
  ShardingOptions options;
  options.maxReuseDistance = elements;
  for (auto program : module.getOps<train::ProgramOp>())
    if (failed(applySharding(program, options)))
      return failure();
  return success();
}

/// Whether what stays gathered is left to the compiler.
static bool isOpen(train::ProgramOp program) {
  auto given = program.getShardingAttr();
  return program.getRanks() > 1 && program.getZeroStage() == 3 &&
         !(given &&
           (given.getWords().get("max_reuse_distance") || given.getWords().get("reshard_after_forward")));
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

LogicalResult keepWhatFits(ModuleOp module, int64_t limit,
                           llvm::function_ref<void(PassManager &)> planPasses) {
  if (!llvm::all_of(module.getOps<train::ProgramOp>(), isOpen))
    return success();
  auto fits = [&](int64_t distance) -> FailureOr<bool> {
    OwningOpRef<ModuleOp> copy = module.clone();
    PassManager manager(module.getContext());
    planPasses(manager);
    if (failed(setReuseDistance(*copy, distance)) || failed(manager.run(*copy)))
      return failure();
    return memoryReport(*copy).peak + kUnplannedBytes <= limit;
  };
  // Between a unit's forward and its backward each other unit is read twice at most.
  int64_t fitting = 0, tooFar = 2 * dividedElements(module) + 1;
  FailureOr<bool> all = fits(tooFar);
  if (failed(all))
    return failure();
  if (*all)
    fitting = tooFar;
  for (int i = 0; i < kTries && fitting < tooFar; ++i) {
    const int64_t middle = fitting + (tooFar - fitting) / 2;
    FailureOr<bool> good = fits(middle);
    if (failed(good))
      return failure();
    (*good ? fitting : tooFar) = middle;
  }
  return setReuseDistance(module, fitting);
}

} // namespace trainc
