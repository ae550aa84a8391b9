// Pass `scale-loss`: minimises a multiple of the loss.
#include "dialects/NN/Builders.h"
#include "dialects/Train/LossScaling.h"
#include "lib/Precision/Passes.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_SCALELOSS
#include "lib/Precision/Passes.h.inc"

/// Declares the state of a dynamic scale; the entry @init sets it.
static LogicalResult declareScale(ModuleOp module, double initial) {
  auto init = findEntry<train::EntryOp>(module, EntryKind::init);
  if (!init)
    return module.emitError("scale-loss: the module has no entry @init; run instantiate first");
  auto type = RankedTensorType::get({}, Float32Type::get(module.getContext()));
  OpBuilder builder(init);
  train::StateOp::create(builder, module.getLoc(), train::kLossScaleState, train::StateRole::optimizer, type);
  builder.setInsertionPointToEnd(&init.getBody().front());
  Value scale = nn::TensorBuilder(builder, module.getLoc()).constant(initial, type);
  train::SetOp::create(builder, module.getLoc(), train::kLossScaleState, scale);
  return success();
}

static void scale(train::MinimizeOp minimize, const train::LossScaling &scaling) {
  OpBuilder builder(minimize);
  nn::TensorBuilder build(builder, minimize.getLoc());
  Value loss = minimize.getLoss(), scale;
  if (scaling.isDynamic())
    scale = train::GetOp::create(builder, minimize.getLoc(), loss.getType(), train::kLossScaleState);
  else
    scale = build.constantLike(loss, scaling.fixed);
  minimize.getLossMutable().assign(build.mul(loss, scale));
}

namespace {

struct ScaleLoss : impl::ScaleLossBase<ScaleLoss> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>()) {
      const std::optional<train::LossScaling> scaling = train::lossScalingOf(program);
      auto entry = findEntry<train::EntryOp>(getOperation(), EntryKind::micro_step);
      if (!scaling || !entry)
        continue;
      if (scaling->isDynamic() && failed(declareScale(getOperation(), scaling->initial)))
        return signalPassFailure();
      for (auto minimize : entry.getBody().getOps<train::MinimizeOp>())
        scale(minimize, *scaling);
    }
  }
};

} // namespace
} // namespace trainc
