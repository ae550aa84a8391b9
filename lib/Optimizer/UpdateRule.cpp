#include "lib/Optimizer/UpdateRule.h"

using namespace mlir;
using namespace trainc;

Value UpdateRule::addDecay(StepBuilder &build, const TrainedParameter &parameter) {
  double decay = parameter.settings.weightDecay;
  return decay == 0 ? parameter.gradient : build.add(parameter.gradient, build.mul(parameter.value, decay));
}

Value UpdateRule::decayed(StepBuilder &build, const TrainedParameter &parameter, Value rate) {
  double decay = parameter.settings.weightDecay;
  if (decay == 0)
    return parameter.value;
  return build.scale(parameter.value, build.sub(1, build.mul(rate, decay)));
}

Value UpdateRule::average(StepBuilder &build, Value old, Value sample, double beta) {
  return build.add(build.mul(old, beta), build.mul(sample, 1 - beta));
}

Value UpdateRule::advance(StepBuilder &build, StringRef kind, RankedTensorType type, Value sample,
                          double beta, StringRef parameter) {
  Value old = build.readOptimizerState(kind, type, parameter);
  Value updated = average(build, old, sample, beta);
  build.replaceOptimizerState(kind, old, updated, parameter);
  return updated;
}

std::unique_ptr<UpdateRule> UpdateRule::create(train::OptimizerAttr optimizer) {
#define TRAINC_OPTIMIZER(source, kind, rule, ...)                                                            \
  if (optimizer.getKind() == #kind)                                                                          \
    return rule(optimizer);
#include "dialects/Train/Optimizers.def"
#undef TRAINC_OPTIMIZER
  llvm_unreachable("the attribute's verifier knows all optimizers");
}
