// Adam and AdamW.
#include "lib/Optimizer/UpdateRule.h"

using namespace mlir;
using namespace trainc;

namespace {

/// Adam (Kingma and Ba 2015); with `decoupled` decay, AdamW (Loshchilov and Hutter 2019).
class AdamRule : public UpdateRule {
public:
  explicit AdamRule(train::OptimizerAttr optimizer, bool decoupled)
      : beta1(optimizer.number("beta1")), beta2(optimizer.number("beta2")), eps(optimizer.number("eps")),
        decoupled(decoupled) {}

  void begin(StepBuilder &build) override {
    Value correction1 = advanceCorrection(build, "bias_correction1", beta1);
    Value correction2 = advanceCorrection(build, "bias_correction2", beta2);
    inverse1 = build.create<nn::ReciprocalOp>(correction1).getResult();
    inverseRoot2 = build.create<nn::RsqrtOp>(correction2).getResult();
  }

  Value update(StepBuilder &build, const TrainedParameter &parameter) override {
    RankedTensorType type = nn::tensorType(parameter.value);
    Value gradient = decoupled ? parameter.gradient : addDecay(build, parameter);
    Value mean = advance(build, "exp_avg", type, gradient, beta1, parameter.name);
    Value square = advance(build, "exp_avg_sq", type, build.square(gradient), beta2, parameter.name);
    Value root = build.scale(build.create<nn::SqrtOp>(square).getResult(), inverseRoot2);
    Value direction = build.div(mean, build.add(root, eps));
    Value rate = build.learningRate(parameter.settings.lrScale);
    Value step = build.scale(direction, build.mul(rate, inverse1));
    return build.sub(decoupled ? decayed(build, parameter, rate) : parameter.value, step);
  }

private:
  /// Computes 1 - beta^t as a moving average of ones.
  static Value advanceCorrection(StepBuilder &build, StringRef kind, double beta) {
    RankedTensorType scalar = nn::tensorType(build.finite);
    return advance(build, kind, scalar, build.constant(1, scalar), beta);
  }

  double beta1, beta2, eps;
  bool decoupled;
  Value inverse1, inverseRoot2;
};

} // namespace

std::unique_ptr<UpdateRule> trainc::adamWRule(train::OptimizerAttr optimizer) {
  return std::make_unique<AdamRule>(optimizer, /*decoupled=*/true);
}

std::unique_ptr<UpdateRule> trainc::adamRule(train::OptimizerAttr optimizer) {
  return std::make_unique<AdamRule>(optimizer, /*decoupled=*/false);
}
