// Stochastic gradient descent.
#include "lib/Optimizer/UpdateRule.h"

using namespace mlir;
using namespace trainc;

namespace {

/// Stochastic gradient descent. With momentum, the buffer is momentum * buffer + gradient.
class SgdRule : public UpdateRule {
public:
  explicit SgdRule(train::OptimizerAttr optimizer) : momentum(optimizer.number("momentum")) {}

  Value update(StepBuilder &build, const TrainedParameter &parameter) override {
    Value direction = addDecay(build, parameter);
    if (momentum != 0) {
      Value old = build.readOptimizerState("momentum", nn::tensorType(parameter.value), parameter.name);
      direction = build.add(build.mul(old, momentum), direction);
      build.replaceOptimizerState("momentum", old, direction, parameter.name);
    }
    return build.sub(parameter.value, build.scale(direction, build.learningRate(parameter.settings.lrScale)));
  }

private:
  double momentum;
};

} // namespace

std::unique_ptr<UpdateRule> trainc::sgdRule(train::OptimizerAttr optimizer) {
  return std::make_unique<SgdRule>(optimizer);
}
