// Pass `narrow-gradients`: sums gradients over ranks in the type `reduce` of the program.
#include "dialects/Dist/Dist.h"
#include "lib/Precision/ElementTypes.h"
#include "lib/Precision/Passes.h"
#include "plan/settings/settings.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_NARROWGRADIENTS
#include "lib/Precision/Passes.h.inc"

/// Returns the numbers of `value` rounded to `type`. If nothing else reads `value`, the op that computes it
/// rounds. Members of a flat tensor are rounded separately, so that each can be computed in place.
static Value narrowed(Value value, FloatType type) {
  if (auto sum = value.getDefiningOp<WideSumOpInterface>(); sum && value.hasOneUse() && sum.roundSums(type))
    return value;
  if (auto convert = value.getDefiningOp<nn::ConvertOp>(); convert && floatElement(convert.getX()) == type)
    return convert.getX();
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto pack = value.getDefiningOp<dist::PackOp>();
  if (!pack || !pack->hasOneUse())
    return nn::TensorBuilder(builder, value.getLoc()).convert(value, type);
  auto members = llvm::map_to_vector(pack.getMembers(), [&](Value member) { return narrowed(member, type); });
  Value flat = dist::PackOp::create(builder, pack.getLoc(), nn::tensorType(value).clone(type), members,
                                    pack.getOffsets());
  return flat;
}

/// Rounds the operand of `sum`, and widens the sum. On one rank there is no sum.
static void narrow(train::SumOverRanksOp sum, FloatType type, bool alone) {
  OpBuilder builder(sum);
  const Type wideElement = nn::tensorType(sum.getValue()).getElementType();
  Value whole = sum.getValue(), low = narrowed(whole, type);
  if (!alone)
    low = train::SumOverRanksOp::create(builder, sum.getLoc(), low, sum.getOfAttr());
  Value wide = nn::TensorBuilder(builder, sum.getLoc()).convert(low, wideElement);
  sum.getResult().replaceAllUsesWith(wide);
  sum.erase();
  if (auto pack = whole.getDefiningOp<dist::PackOp>(); pack && pack->use_empty())
    pack.erase();
}

namespace {

struct NarrowGradients : impl::NarrowGradientsBase<NarrowGradients> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>()) {
      const FloatType type = train::precisionOf(program).reduce;
      if (type.isF32())
        continue;
      getOperation()->walk([&](train::SumOverRanksOp sum) {
        if (sum.getOf())
          narrow(sum, type, train::kRanks.of(program) == 1);
      });
    }
  }
};

} // namespace
} // namespace trainc
