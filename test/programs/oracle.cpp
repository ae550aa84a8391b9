#include "test/programs/oracle.h"

#include "dialects/NN/Builders.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Autodiff/Passes.h"
#include "lib/Instantiate/Instantiate.h"
#include "lib/Reference/Interpreter.h"

#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/SetVector.h"

#include <cmath>
#include <optional>

using namespace mlir;
using namespace trainc;
using namespace trainc::programs;
using reference::EntryMemory;
using reference::Tensor;

namespace {

/// Margin over the maximum change in several perturbed runs, for sums, in which every term is rounded.
constexpr double kMargin = 3;
constexpr int kChangedRuns = 4;

/// Whether rounding to f32 does not change the op's results: uniform random numbers have 24 bits, and so have
/// their products with a power of two, from which keys of dropout are made.
static bool isExact(Operation &op) {
  const auto isUniform = [](Operation *source) {
    auto random = dyn_cast_or_null<nn::RandomOp>(source);
    return random && !random.getNormal();
  };
  if (isUniform(&op))
    return true;
  auto product = dyn_cast<nn::MulOp>(op);
  auto factor = product ? product.getRhs().getDefiningOp<nn::ConstantOp>() : nn::ConstantOp();
  return factor && isUniform(product.getLhs().getDefiningOp()) && factor.getValue().getExactLog2() != INT_MIN;
}

/// The program for one rank: forward, and the operands of train.gradient.
class Interpreted {
public:
  Interpreted(ModuleOp model, unsigned seed, double lossScale)
      : module_(model.clone()), random_(seed), lossScale_(lossScale) {}

  LogicalResult compile() {
    PassManager passes(module_->getContext());
    passes.addPass(createAutodiff());
    for (auto program : module_->getOps<train::ProgramOp>())
      if (failed(train::applyOptions(program, {{"ranks", "1"}})))
        return failure();
    const bool isLanguageModel = hasLogits();
    if (failed(instantiate(*module_)))
      return failure();
    if (isLanguageModel)
      findLogits();
    scaleLoss();
    return passes.run(*module_);
  }

  /// Initial parameters, as f32 holds them.
  FailureOr<reference::NamedTensors> drawParameters() {
    EntryMemory memory(*module_);
    memory.states.find("seed")->second.integers[0] = int64_t(random_() % 1000);
    if (failed(reference::runEntry(*module_, EntryKind::init, memory)))
      return failure();
    reference::NamedTensors parameters;
    std::uniform_real_distribution<double> around(-0.25, 0.25);
    for (auto state : module_->getOps<train::StateOp>())
      if (state.getRole() == train::StateRole::parameter) {
        Tensor &tensor = memory.states.find(state.getSymName())->second;
        // Perturbs constant biases and gains, so that each element matters.
        const bool isConstant = llvm::all_equal(tensor.reals);
        for (double &number : tensor.reals)
          number = double(float(number + (isConstant ? around(random_) : 0)));
        parameters.emplace(state.getSymName().str(), tensor);
      }
    return parameters;
  }

  Samples drawSamples() {
    Samples samples;
    module_->walk([&](train::InputOp input) {
      if (samples.contains(input.getColumn()))
        return;
      Tensor tensor(input.getResult());
      for (double &number : tensor.reals)
        number = double(std::uniform_real_distribution<float>(-1, 1)(random_));
      const uint64_t end = input.getLimit() ? input.getLimit() : 4;
      for (int64_t &number : tensor.integers)
        number = int64_t(random_() % end);
      samples.emplace(input.getColumn().str(), std::move(tensor));
    });
    return samples;
  }

  /// The memory of a rank that is to run an entry.
  EntryMemory memory(const Step &step, size_t rank) {
    EntryMemory memory(*module_);
    for (auto &[name, tensor] : step.parameters)
      memory.states.insert_or_assign(name, tensor);
    if (auto micro = memory.states.find("micro"); micro != memory.states.end())
      micro->second.integers[0] = int64_t(rank);
    memory.microColumns = memory.stepColumns = step.samples[rank];
    return memory;
  }

  LogicalResult run(EntryKind kind, EntryMemory &memory, const Change &change) {
    auto entry = findEntry<train::EntryOp>(*module_, kind);
    reference::Frame frame(&memory);
    for (Operation &op : entry.getBody().front()) {
      FailureOr<reference::Tensors> results = change.isNone() || isExact(op)
                                                  ? reference::runOp(op, frame)
                                                  : runChanged(op, frame, change, random_);
      if (failed(results))
        return failure();
      for (auto [value, tensor] : llvm::zip(op.getResults(), *results)) {
        for (double number : tensor.reals)
          largest_ = std::isfinite(number) ? std::max(largest_, std::abs(number)) : HUGE_VAL;
        frame.define(value, std::move(tensor));
      }
    }
    if (kind == EntryKind::eval && logits_)
      lastLogits_ = std::as_const(frame)[logits_];
    return success();
  }

  /// The largest number that any op has given in any run.
  double largest() const { return largest_; }

  /// Logits of the last evaluation, if only tokens lead to them.
  const std::optional<Tensor> &lastLogits() const { return lastLogits_; }

private:
  /// Multiplies the minimised loss, and so scales gradients.
  void scaleLoss() {
    module_->walk([&](train::MinimizeOp minimize) {
      OpBuilder builder(minimize);
      nn::TensorBuilder build(builder, minimize.getLoc());
      minimize.getLossMutable().assign(
          build.mul(minimize.getLoss(), build.constantLike(minimize.getLoss(), lossScale_)));
    });
  }

  /// Whether the module's only cross-entropy uses the model's logits.
  bool hasLogits() {
    SmallVector<nn::CrossEntropyOp> losses;
    Value logits;
    module_->walk([&](nn::CrossEntropyOp op) { losses.push_back(op); });
    module_->walk([&](nn::OutputOp op) { logits = op.getName() == "logits" ? op.getValue() : logits; });
    return losses.size() == 1 && logits == losses.front().getLogits();
  }

  /// Finds the logits of the evaluation.
  void findLogits() {
    llvm::SetVector<Operation *> before;
    findEntry<train::EntryOp>(*module_, EntryKind::eval).walk([&](nn::CrossEntropyOp op) {
      logits_ = op.getLogits();
    });
    before.insert(logits_.getDefiningOp());
    for (size_t i = 0; i < before.size(); ++i)
      for (Value operand : before[i]->getOperands())
        before.insert(operand.getDefiningOp());
    const bool isRow = nn::tensorType(logits_).getRank() == 3;
    if (!isRow || !llvm::all_of(before, [](Operation *op) {
          auto input = dyn_cast<train::InputOp>(op);
          return !input || input.getColumn() == "tokens";
        }))
      logits_ = {};
  }

  OwningOpRef<ModuleOp> module_;
  std::mt19937 random_;
  double lossScale_, largest_ = 0;
  Value logits_; ///< of the evaluation
  std::optional<Tensor> lastLogits_;
};

/// Result of one way of running a step.
struct Outcome {
  reference::NamedTensors gradients;
  double loss = 0, evalLoss = 0, evalTargets = 0;
  std::optional<Tensor> logits;
};

} // namespace

static double scalar(const EntryMemory &memory, StringRef name) {
  return memory.states.find(name)->second.real(0);
}

/// Whether the state is a divisor of losses.
static bool isTargets(StringRef state) { return state == "targets" || state.starts_with("targets."); }

/// The step of all ranks: losses are divided by the targets of all, gradients and losses add up.
static FailureOr<Outcome> runStep(Interpreted &program, const Step &step, double lossScale,
                                  const Change &change) {
  std::vector<EntryMemory> ranks;
  std::map<std::string, double> targets;
  for (size_t rank = 0; rank < step.samples.size(); ++rank) {
    EntryMemory &memory = ranks.emplace_back(program.memory(step, rank));
    if (failed(program.run(EntryKind::begin_step, memory, Change{0})))
      return failure();
    for (auto &[name, tensor] : memory.states)
      if (isTargets(name))
        targets[name] += tensor.real(0);
  }
  Outcome outcome;
  for (EntryMemory &memory : ranks) {
    for (auto &[name, sum] : targets)
      memory.states.find(name)->second.reals[0] = sum;
    if (failed(program.run(EntryKind::micro_step, memory, change)))
      return failure();
    outcome.loss += scalar(memory, "loss");
    for (auto &[name, tensor] : memory.gradients) {
      auto [sum, isFirst] = outcome.gradients.try_emplace(name, tensor);
      for (size_t i = 0; !isFirst && i < tensor.reals.size(); ++i)
        sum->second.reals[i] += tensor.reals[i];
    }
  }
  for (auto &[name, gradient] : outcome.gradients)
    for (double &number : gradient.reals)
      number /= lossScale;
  EntryMemory evaluation = program.memory(step, 0);
  if (failed(program.run(EntryKind::eval, evaluation, change)))
    return failure();
  outcome.evalLoss = scalar(evaluation, "eval_loss");
  outcome.evalTargets = scalar(evaluation, "eval_targets");
  outcome.logits = program.lastLogits();
  return outcome;
}

static double largestOf(ArrayRef<double> numbers) {
  double largest = 0;
  for (double number : numbers)
    largest = std::max(largest, std::abs(number));
  return largest;
}

/// Widens the tolerance by the effect of a perturbation.
static void addChanged(Expected &expected, ArrayRef<double> changed, const Rounding &rounding) {
  double moved = 0;
  for (auto [a, b] : llvm::zip(expected.numbers, changed))
    moved = std::isfinite(b) ? std::max(moved, std::abs(a - b)) : HUGE_VAL;
  const double largest = largestOf(expected.numbers);
  expected.tolerance = std::max(expected.tolerance, kMargin * moved + rounding.minTolerance * largest);
  expected.isUnstable |= moved > rounding.unstable * largest;
}

static LogicalResult expect(Expected &expected, ArrayRef<double> numbers) {
  expected.numbers.assign(numbers.begin(), numbers.end());
  return success(
      llvm::all_of(numbers, [](double number) { return std::isfinite(number) && std::abs(number) < 1e6; }));
}

/// The logits at a position of the first sample.
static ArrayRef<double> logitsAt(const Tensor &logits, size_t position) {
  return ArrayRef(logits.reals).slice(position * logits.dim(2), logits.dim(2));
}

static LogicalResult expectContinuation(Step &step, const std::optional<Tensor> &logits) {
  const auto tokens = step.samples.front().find("tokens");
  if (!logits || tokens == step.samples.front().end() ||
      tokens->second.shape() != logits->shape().drop_back())
    return success();
  for (int64_t position = 0; position < logits->dim(1); ++position) {
    step.continuation.tokens.push_back(tokens->second.integers[position]);
    if (failed(expect(step.continuation.logits.emplace_back(), logitsAt(*logits, position))))
      return failure();
  }
  return success();
}

FailureOr<Step> programs::expectStep(ModuleOp module, size_t ranks, unsigned seed, const Rounding &rounding) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  Interpreted program(module, seed, rounding.lossScale);
  if (failed(program.compile()))
    return failure();
  Step step;
  FailureOr<reference::NamedTensors> parameters = program.drawParameters();
  if (failed(parameters))
    return failure();
  step.parameters = std::move(*parameters);
  for (size_t rank = 0; rank < ranks; ++rank)
    step.samples.push_back(program.drawSamples());
  FailureOr<Outcome> exact = runStep(program, step, rounding.lossScale, Change{0});
  if (failed(exact) || failed(expect(step.loss, exact->loss)) ||
      failed(expect(step.evalLoss, exact->evalLoss)) || failed(expect(step.evalTargets, exact->evalTargets)))
    return failure();
  if (failed(expectContinuation(step, exact->logits)))
    return failure();
  for (auto &[name, tensor] : exact->gradients)
    if (failed(expect(step.gradients[name], tensor.reals)))
      return failure();
  for (int run = 0; run < kChangedRuns; ++run) {
    FailureOr<Outcome> changed = runStep(program, step, rounding.lossScale, rounding.change);
    if (failed(changed))
      return failure();
    addChanged(step.loss, changed->loss, rounding);
    addChanged(step.evalLoss, changed->evalLoss, rounding);
    addChanged(step.evalTargets, changed->evalTargets, rounding);
    for (auto [position, expected] : llvm::enumerate(step.continuation.logits))
      addChanged(expected, logitsAt(*changed->logits, position), rounding);
    for (auto &[name, tensor] : changed->gradients)
      addChanged(step.gradients[name], tensor.reals, rounding);
  }
  step.mayOverflow = program.largest() > rounding.largest;
  return step;
}
