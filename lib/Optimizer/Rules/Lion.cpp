// Lion.
#include "lib/Optimizer/UpdateRule.h"

using namespace mlir;
using namespace trainc;

namespace {

/// Lion (Chen et al. 2023, algorithm 2): steps of the learning rate in the direction of a sign.
class LionRule : public UpdateRule {
public:
  explicit LionRule(train::OptimizerAttr optimizer)
      : beta1(optimizer.number("beta1")), beta2(optimizer.number("beta2")) {}

  Value update(StepBuilder &build, const TrainedParameter &parameter) override {
    RankedTensorType type = nn::tensorType(parameter.value);
    Value old = build.readOptimizerState("exp_avg", type, parameter.name);
    Value direction = sign(build, average(build, old, parameter.gradient, beta1));
    build.replaceOptimizerState("exp_avg", old, average(build, old, parameter.gradient, beta2),
                                parameter.name);
    Value rate = build.learningRate(parameter.settings.lrScale);
    return build.sub(decayed(build, parameter, rate), build.scale(direction, rate));
  }

private:
  /// Returns -1, 0 or 1; 0 for NaN, with which the step is not taken.
  static Value sign(StepBuilder &build, Value x) {
    Value zero = build.constantLike(x, 0);
    Value negative = build.select(build.compare(nn::Predicate::lt, x, zero), build.constantLike(x, -1), zero);
    return build.select(build.compare(nn::Predicate::gt, x, zero), build.constantLike(x, 1), negative);
  }

  double beta1, beta2;
};

} // namespace

std::unique_ptr<UpdateRule> trainc::lionRule(train::OptimizerAttr optimizer) {
  return std::make_unique<LionRule>(optimizer);
}
