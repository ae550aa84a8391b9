#include "lib/Pipelines/Unsharding.h"

#include "dialects/Train/Train.h"

using namespace mlir;

namespace trainc {

/// Plans that are tried between keeping all and keeping nothing.
static constexpr int kTries = 3;

bool isOpen(ModuleOp module, ArrayRef<StringRef> words) {
  return llvm::all_of(module.getOps<train::ProgramOp>(), [&](train::ProgramOp program) {
    train::ShardingAttr given = program.getShardingAttr();
    return program.getRanks() > 1 && program.getZeroStage() == 3 &&
           llvm::none_of(words, [&](StringRef word) { return given && given.getWords().get(word); });
  });
}

/// Elements of all parameters that ranks may divide.
static int64_t flatElements(ModuleOp step) {
  int64_t elements = 0;
  for (auto state : step.getOps<train::StateOp>())
    if (state.getRole() == train::StateRole::parameter && state.getMembersAttr())
      for (auto member : state.getMembersAttr().getAsRange<train::MemberAttr>())
        elements += cast<RankedTensorType>(member.getType()).getNumElements();
  return elements;
}

FailureOr<int64_t> fittingReuseDistance(ModuleOp step, llvm::function_ref<FailureOr<bool>(int64_t)> fits) {
  // Between a unit's forward and its backward each other unit is read twice at most.
  int64_t fitting = 0, tooFar = 2 * flatElements(step) + 1;
  FailureOr<bool> good = fits(tooFar);
  if (succeeded(good) && *good)
    return tooFar;
  for (int i = 0; i < kTries && succeeded(good); ++i) {
    const int64_t middle = fitting + (tooFar - fitting) / 2;
    good = fits(middle);
    if (succeeded(good))
      (*good ? fitting : tooFar) = middle;
  }
  if (failed(good))
    return failure();
  return fitting;
}

} // namespace trainc
