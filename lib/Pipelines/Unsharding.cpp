#include "lib/Pipelines/Unsharding.h"

#include "dialects/Train/Settings.h"
#include "dialects/Train/Train.h"

using namespace mlir;

namespace trainc {

bool isOpen(ModuleOp module, ArrayRef<StringRef> words) {
  return llvm::all_of(module.getOps<train::ProgramOp>(), [&](train::ProgramOp program) {
    return train::kRanks.of(program) > 1 && train::kZeroStage.of(program) == 3 &&
           llvm::none_of(words, [&](StringRef word) { return train::findSetting(word)->isSet(program); });
  });
}

/// Returns the number of elements of all parameters that can be sharded.
static int64_t flatElements(ModuleOp step) {
  int64_t elements = 0;
  for (auto state : step.getOps<train::StateOp>())
    if (state.getRole() == train::StateRole::parameter && state.getMembersAttr())
      for (auto member : state.getMembersAttr().getAsRange<train::MemberAttr>())
        elements += cast<RankedTensorType>(member.getType()).getNumElements();
  return elements;
}

LogicalResult keepWhatFits(ModuleOp step,
                           llvm::function_ref<FailureOr<SmallVector<bool>>(ArrayRef<int64_t>)> fit) {
  // Between a unit's forward and its backward, each other unit is read at most twice.
  const int64_t all = 2 * flatElements(step) + 1;
  const FailureOr<SmallVector<bool>> few = fit({all / 8, all / 4});
  if (failed(few) || !few->back())
    return few;
  return fit({all / 2, all});
}

} // namespace trainc
