// State machine of PyTorch's GradScaler, with the minimum of DeepSpeed's DynamicLossScaler.
#include "lib/Optimizer/LossScaler.h"

#include <limits>

using namespace mlir;
using namespace trainc;

static constexpr StringRef kGoodSteps = "loss_scale_good_steps";

LossScaler::LossScaler(StepBuilder &build, std::optional<train::LossScaling> scaling, double window)
    : build_(build), scaling_(scaling), window_(window) {
  if (!scaling_)
    return;
  if (!scaling_->isDynamic()) {
    inverse_ = build_.constant(1 / scaling_->fixed, build_.scalarType());
    return;
  }
  scale_ = build_.read(train::kLossScaleState);
  inverse_ = build_.create<nn::ReciprocalOp>(scale_).getResult();
}

Value LossScaler::choose(nn::Predicate predicate, Value x, double y, Value then, Value otherwise) {
  return build_.select(build_.compare(predicate, x, build_.constantLike(x, y)), then, otherwise);
}

Value LossScaler::ifFinite(Value then, Value otherwise) {
  return choose(nn::Predicate::gt, build_.finite, 0, then, otherwise);
}

void LossScaler::advance() {
  if (!scale_)
    return;
  using enum nn::Predicate;
  auto number = [&](double value) { return build_.constant(value, build_.scalarType()); };
  Value good = build_.add(
      build_.readOptimizerState(kGoodSteps, build_.scalarType(), /*parameter=*/{}, /*initial=*/0), 1);
  // As in GradScaler, the scale does not double if the result would be infinite.
  Value twice = build_.mul(scale_, 2);
  Value grown = choose(le, twice, std::numeric_limits<float>::max(), twice, scale_);
  Value afterGood = choose(ge, good, window_, grown, scale_);
  Value half = build_.create<nn::MaxOp>(build_.mul(scale_, 0.5), number(train::kMinLossScale)).getResult();
  Value counted = choose(ge, good, window_, number(0), good);
  build_.write(train::kLossScaleState, ifFinite(afterGood, half));
  build_.write(kGoodSteps, ifFinite(counted, number(0)));
  build_.writeReport(HostScalar::step_loss_scale, scale_);
  Value canShrink = choose(gt, scale_, train::kMinLossScale, number(1), number(0));
  build_.writeReport(HostScalar::overflow, ifFinite(number(0), canShrink));
}
