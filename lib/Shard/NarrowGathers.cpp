// Pass `narrow-gathers`: casts shards of parameters before they are gathered.
#include "lib/Shard/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/NN/Builders.h"
#include "dialects/Train/Train.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_NARROWGATHERS
#include "lib/Shard/Passes.h.inc"

/// Whether all users of `value` and of its members are casts; adds these to `casts`.
static bool collectCasts(Value value, SmallVectorImpl<nn::ConvertOp> &casts) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto member = dyn_cast<dist::MemberOp>(user))
      return collectCasts(member.getValue(), casts);
    auto cast = dyn_cast<nn::ConvertOp>(user);
    if (cast)
      casts.push_back(cast);
    return bool(cast);
  });
}

/// Returns the common type of the casts if it has fewer bits than their operands; null otherwise.
static Type narrowTypeOf(ArrayRef<nn::ConvertOp> casts) {
  if (casts.empty())
    return {};
  nn::ConvertOp first = casts.front();
  auto isAlike = [&](nn::ConvertOp cast) { return cast.getTo() == first.getTo(); };
  auto to = dyn_cast<FloatType>(first.getTo());
  auto from = dyn_cast<FloatType>(nn::tensorType(first.getX()).getElementType());
  return to && from && to.getWidth() < from.getWidth() && llvm::all_of(casts, isAlike) ? to : Type();
}

/// Casts the whole bucket after its read, and reads members from the result.
static void castWhole(train::GetOp get, ArrayRef<nn::ConvertOp> casts, Type to) {
  OpBuilder builder(get);
  builder.setInsertionPointAfter(get);
  Value low = nn::TensorBuilder(builder, get.getLoc()).convert(get.getResult(), to);
  for (nn::ConvertOp cast : casts) {
    Value read = low;
    auto member = cast.getX().getDefiningOp<dist::MemberOp>();
    if (member) {
      builder.setInsertionPoint(member);
      read = dist::MemberOp::create(builder, member.getLoc(), cast.getType(), low, member.getOffset());
    }
    cast.getResult().replaceAllUsesWith(read);
    cast.erase();
    if (member && member->use_empty())
      member.erase();
  }
}

namespace {

struct NarrowGathers : impl::NarrowGathersBase<NarrowGathers> {
  void runOnOperation() override {
    const SymbolTable symbols(getOperation());
    for (auto entry : getOperation().getOps<train::EntryOp>())
      for (auto get : llvm::make_early_inc_range(entry.getBody().getOps<train::GetOp>())) {
        SmallVector<nn::ConvertOp> casts;
        if (!dist::isSharded(symbols.lookup<train::StateOp>(get.getState())) ||
            !collectCasts(get.getResult(), casts))
          continue;
        if (Type to = narrowTypeOf(casts))
          castWhole(get, casts, to);
      }
  }
};

} // namespace
} // namespace trainc
