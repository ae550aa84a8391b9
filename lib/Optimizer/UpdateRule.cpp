// Arithmetic of AdamW, Adam and SGD, in the order of PyTorch's single-tensor implementations.
#include "lib/Optimizer/UpdateRule.h"

using namespace mlir;
using namespace trainc;

/// Returns gradient + decay * value, i.e. decay as a penalty in the loss.
static Value addDecay(StepBuilder &build, const TrainedParameter &parameter) {
  double decay = parameter.settings.weightDecay;
  return decay == 0 ? parameter.gradient : build.add(parameter.gradient, build.mul(parameter.value, decay));
}

/// Returns the moving average old * beta + sample * (1 - beta).
static Value average(StepBuilder &build, Value old, Value sample, double beta) {
  return build.add(build.mul(old, beta), build.mul(sample, 1 - beta));
}

namespace {

/// Adam (Kingma and Ba 2015); with `decoupled` decay, AdamW (Loshchilov and Hutter 2019).
class AdamRule : public UpdateRule {
public:
  explicit AdamRule(train::OptimizerAttr optimizer, bool decoupled)
      : beta1(optimizer.getBeta1().getValueAsDouble()), beta2(optimizer.getBeta2().getValueAsDouble()),
        eps(optimizer.getEps().getValueAsDouble()), decoupled(decoupled) {}

  void begin(StepBuilder &build) override {
    Value correction1 = advance(build, "bias_correction1", beta1);
    Value correction2 = advance(build, "bias_correction2", beta2);
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
    return build.sub(decayed(build, parameter, rate), step);
  }

private:
  /// Updates one of the optimizer's moving averages with `sample`, and returns its new value.
  static Value advance(StepBuilder &build, StringRef kind, RankedTensorType type, Value sample, double beta,
                       StringRef parameter = {}) {
    Value old = build.readOptimizerState(kind, type, parameter);
    Value updated = average(build, old, sample, beta);
    build.replaceOptimizerState(kind, old, updated, parameter);
    return updated;
  }

  /// Computes 1 - beta^t as a moving average of ones.
  static Value advance(StepBuilder &build, StringRef kind, double beta) {
    RankedTensorType scalar = nn::tensorType(build.finite);
    return advance(build, kind, scalar, build.constant(1, scalar), beta);
  }

  /// Returns the value times 1 - rate * decay.
  Value decayed(StepBuilder &build, const TrainedParameter &parameter, Value rate) const {
    double decay = parameter.settings.weightDecay;
    if (!decoupled || decay == 0)
      return parameter.value;
    return build.scale(parameter.value, build.sub(1, build.mul(rate, decay)));
  }

  double beta1, beta2, eps;
  bool decoupled;
  Value inverse1, inverseRoot2;
};

/// Stochastic gradient descent. With momentum, the buffer is momentum * buffer + gradient.
class SgdRule : public UpdateRule {
public:
  explicit SgdRule(train::OptimizerAttr optimizer) : momentum(optimizer.getMomentum().getValueAsDouble()) {}

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

std::unique_ptr<UpdateRule> UpdateRule::create(train::OptimizerAttr optimizer) {
  switch (optimizer.getKind()) {
  case train::OptimizerKind::adamw:
    return std::make_unique<AdamRule>(optimizer, /*decoupled=*/true);
  case train::OptimizerKind::adam:
    return std::make_unique<AdamRule>(optimizer, /*decoupled=*/false);
  case train::OptimizerKind::sgd:
    return std::make_unique<SgdRule>(optimizer);
  }
  llvm_unreachable("unknown optimizer");
}
