#include "test/programs/oracle.h"

#include "dialects/Train/ProgramSettings.h"
#include "lib/Autodiff/Passes.h"
#include "lib/Instantiate/Instantiate.h"
#include "lib/Reference/Interpreter.h"
#include "test/programs/trial.h"

#include "mlir/Pass/PassManager.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::programs;
using reference::EntryMemory;
using reference::Tensor;

namespace {

/// A way to run a step in which every op's results are changed by some part of themselves, as rounding to f32
/// changes them by up to 2^-24. The largest of what several such runs change is what rounding may change,
/// with kMargin for sums, in which every term is rounded.
constexpr double kChange = 1e-6, kMargin = 3;
constexpr int kChangedRuns = 4;
/// Beside that, of a tensor's largest number.
constexpr double kRounding = 1e-6;
/// Where changes move a tensor by more than this part of its largest number, a choice hangs on rounding.
constexpr double kUnstable = 1e-2;

/// The program for one rank: forward, and what train.gradient is given.
class Interpreted {
public:
  Interpreted(ModuleOp model, unsigned seed) : module_(model.clone()), random_(seed) {}

  LogicalResult compile() {
    PassManager passes(module_->getContext());
    passes.addPass(createAutodiff());
    for (auto program : module_->getOps<train::ProgramOp>())
      if (failed(train::applyOptions(program, {{"ranks", "1"}})))
        return failure();
    return failure(failed(instantiate(*module_)) || failed(passes.run(*module_)));
  }

  /// Initial parameters, as f32 holds them.
  FailureOr<reference::NamedTensors> drawParameters() {
    EntryMemory memory(*module_);
    memory.states.find("seed")->second.integers[0] = int64_t(random_() % 1000);
    if (failed(reference::runEntry(*module_, EntryKind::init, memory)))
      return failure();
    reference::NamedTensors parameters;
    for (auto state : module_->getOps<train::StateOp>())
      if (state.getRole() == train::StateRole::parameter) {
        Tensor &tensor = memory.states.find(state.getSymName())->second;
        for (double &number : tensor.reals)
          number = double(float(number));
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

  LogicalResult run(EntryKind kind, EntryMemory &memory, double change) {
    auto entry = findEntry<train::EntryOp>(*module_, kind);
    reference::Frame frame(&memory);
    for (Operation &op : entry.getBody().front()) {
      FailureOr<reference::Tensors> results =
          change == 0 ? reference::runOp(op, frame) : runChanged(op, frame, change, random_);
      if (failed(results))
        return failure();
      for (auto [value, tensor] : llvm::zip(op.getResults(), *results))
        frame.define(value, std::move(tensor));
    }
    return success();
  }

  ModuleOp module() { return *module_; }

private:
  OwningOpRef<ModuleOp> module_;
  std::mt19937 random_;
};

/// What one way of running a step gives.
struct Outcome {
  reference::NamedTensors gradients;
  double loss = 0, evalLoss = 0, evalTargets = 0;
};

} // namespace

static double scalar(const EntryMemory &memory, StringRef name) {
  return memory.states.find(name)->second.real(0);
}

/// States that hold what losses are divided by.
static bool isTargets(StringRef state) { return state == "targets" || state.starts_with("targets."); }

/// The step of all ranks: losses are divided by the targets of all, gradients and losses add up.
static FailureOr<Outcome> runStep(Interpreted &program, const Step &step, double change) {
  std::vector<EntryMemory> ranks;
  std::map<std::string, double> targets;
  for (size_t rank = 0; rank < step.samples.size(); ++rank) {
    EntryMemory &memory = ranks.emplace_back(program.memory(step, rank));
    if (failed(program.run(EntryKind::begin_step, memory, 0)))
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
  EntryMemory evaluation = program.memory(step, 0);
  if (failed(program.run(EntryKind::eval, evaluation, change)))
    return failure();
  outcome.evalLoss = scalar(evaluation, "eval_loss");
  outcome.evalTargets = scalar(evaluation, "eval_targets");
  return outcome;
}

static double largestOf(ArrayRef<double> numbers) {
  double largest = 0;
  for (double number : numbers)
    largest = std::max(largest, std::abs(number));
  return largest;
}

/// Widens the tolerance to what a change makes of the numbers.
static void addChanged(Expected &expected, ArrayRef<double> changed) {
  double moved = 0;
  for (auto [a, b] : llvm::zip(expected.numbers, changed))
    moved = std::isfinite(b) ? std::max(moved, std::abs(a - b)) : HUGE_VAL;
  const double largest = largestOf(expected.numbers);
  expected.tolerance = std::max(expected.tolerance, kMargin * moved + kRounding * largest);
  expected.isUnstable |= moved > kUnstable * largest;
}

static LogicalResult expect(Expected &expected, ArrayRef<double> numbers) {
  expected.numbers.assign(numbers.begin(), numbers.end());
  return success(
      llvm::all_of(numbers, [](double number) { return std::isfinite(number) && std::abs(number) < 1e6; }));
}

FailureOr<Step> programs::expectStep(ModuleOp module, size_t ranks, unsigned seed) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  Interpreted program(module, seed);
  if (failed(program.compile()))
    return failure();
  Step step;
  FailureOr<reference::NamedTensors> parameters = program.drawParameters();
  if (failed(parameters))
    return failure();
  step.parameters = std::move(*parameters);
  for (size_t rank = 0; rank < ranks; ++rank)
    step.samples.push_back(program.drawSamples());
  FailureOr<Outcome> exact = runStep(program, step, 0);
  if (failed(exact) || failed(expect(step.loss, exact->loss)) ||
      failed(expect(step.evalLoss, exact->evalLoss)) || failed(expect(step.evalTargets, exact->evalTargets)))
    return failure();
  for (auto &[name, tensor] : exact->gradients)
    if (failed(expect(step.gradients[name], tensor.reals)))
      return failure();
  for (int run = 0; run < kChangedRuns; ++run) {
    FailureOr<Outcome> changed = runStep(program, step, kChange);
    if (failed(changed))
      return failure();
    addChanged(step.loss, changed->loss);
    addChanged(step.evalLoss, changed->evalLoss);
    addChanged(step.evalTargets, changed->evalTargets);
    for (auto &[name, tensor] : changed->gradients)
      addChanged(step.gradients[name], tensor.reals);
  }
  return step;
}
