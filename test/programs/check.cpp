#include "test/programs/check.h"

#include "dialects/Train/ProgramSettings.h"
#include "lib/Instantiate/Instantiate.h"
#include "lib/Pipelines/Pipeline.h"
#include "test/programs/compiled_step.h"
#include "test/programs/oracle.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace trainc::programs {

static OwningOpRef<ModuleOp> parse(MLIRContext &context, const std::string &text) {
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  return parseSourceString<ModuleOp>(text, ParserConfig(&context));
}

/// A plan's FlatBuffer; an error with the first diagnostic.
static Result<std::vector<uint8_t>> compilePlan(ModuleOp model, const CompileOptions &options,
                                                Fault *fault = nullptr) {
  std::optional<FaultInCompiler> broken;
  if (fault)
    broken.emplace(*model.getContext(), *fault);
  std::string error = "no diagnostic";
  ScopedDiagnosticHandler keep(model.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && error == "no diagnostic")
      error = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = model.clone();
  std::string report;
  if (failed(runPhases(*module, options)))
    return failed("the program is legal, but is not compiled: {}", error);
  FailureOr<std::vector<uint8_t>> payload = finishPlan(*module, 0, report);
  if (mlir::failed(payload))
    return failed("no plan is made: {}", error);
  return std::move(*payload);
}

/// The bytes of a column as the runtime has them.
static std::vector<std::byte> bytesOf(const reference::Tensor &tensor) {
  std::vector<std::byte> bytes;
  auto append = [&](auto value) {
    const auto *begin = reinterpret_cast<const std::byte *>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof(value));
  };
  for (double number : tensor.reals)
    append(float(number));
  for (int64_t number : tensor.integers)
    if (tensor.type().getElementTypeBitWidth() == 64)
      append(number);
    else
      append(int32_t(number));
  return bytes;
}

static StepInputs inputsOf(const Step &step, unsigned seed) {
  StepInputs inputs;
  inputs.tokens.assign(step.continuation.tokens.begin(), step.continuation.tokens.end());
  inputs.prompt = inputs.tokens.empty() ? 0 : 1 + seed % inputs.tokens.size();
  for (const auto &[name, tensor] : step.parameters)
    inputs.parameters[name].assign(tensor.reals.begin(), tensor.reals.end());
  for (const Samples &samples : step.samples) {
    auto &columns = inputs.samples.emplace_back();
    for (const auto &[name, tensor] : samples)
      columns[name] = bytesOf(tensor);
  }
  return inputs;
}

namespace {

/// Collects differences.
class Comparison {
public:
  /// `computed` is off where it is not a number, too.
  void compare(const std::string &name, const Expected &expected, ArrayRef<double> computed) {
    if (expected.isUnstable) {
      verdict_.kind = verdict_.kind == Verdict::kWrong ? Verdict::kWrong : Verdict::kUnstable;
      return;
    }
    for (size_t i = 0; i < computed.size(); ++i)
      if (!(std::abs(computed[i] - expected.numbers[i]) <= expected.tolerance)) {
        verdict_.kind = Verdict::kWrong;
        verdict_.what += fmt::format("{}[{}] is {:.9g}, expected {:.9g} within {:.2g}\n", name, i,
                                     computed[i], expected.numbers[i], expected.tolerance);
        return;
      }
  }

  void compare(const std::string &name, const Expected &expected, float computed) {
    compare(name, expected, ArrayRef(double(computed)));
  }

  Verdict verdict() const { return verdict_; }

private:
  Verdict verdict_;
};

} // namespace

/// A parameter after the step, with the digits that it has.
static Expected updated(const reference::Tensor &parameter, const Expected &gradient) {
  Expected expected{{}, kLearningRate * gradient.tolerance, gradient.isUnstable};
  double largest = 0;
  for (size_t i = 0; i < parameter.reals.size(); ++i) {
    expected.numbers.push_back(parameter.reals[i] - kLearningRate * gradient.numbers[i]);
    largest = std::max({largest, std::abs(expected.numbers.back()), std::abs(parameter.reals[i])});
  }
  expected.tolerance += largest * 0x1p-23;
  return expected;
}

static std::vector<double> toDoubles(const std::vector<float> &numbers) {
  return {numbers.begin(), numbers.end()};
}

/// A step that overflows changes no parameter.
static Verdict checkSkippedStep(const StepInputs &inputs, const ComputedStep &computed) {
  for (const auto &[name, numbers] : inputs.parameters)
    if (const auto found = computed.parameters.find(name);
        found == computed.parameters.end() || found->second != numbers)
      return {Verdict::kWrong, "a step that overflows changes " + name + "\n"};
  return {Verdict::kUnstable, ""};
}

static Verdict compareSteps(const Step &step, const ComputedStep &computed) {
  if (!computed.isFinite)
    return {Verdict::kWrong, "the plan finds that loss or gradients are not finite\n"};
  Comparison comparison;
  comparison.compare("eval_loss", step.evalLoss, computed.evalLoss);
  comparison.compare("eval_targets", step.evalTargets, computed.evalTargets);
  comparison.compare("loss", step.loss, computed.loss);
  const size_t prompt = step.continuation.logits.size() - computed.logits.size();
  for (auto [index, logits] : llvm::enumerate(computed.logits))
    comparison.compare(fmt::format("logits at {}", prompt + index), step.continuation.logits[prompt + index],
                       toDoubles(logits));
  for (const auto &[name, parameter] : step.parameters) {
    const auto found = computed.parameters.find(name);
    if (found == computed.parameters.end())
      return {Verdict::kWrong, "the plan has no parameter " + name};
    const auto gradient = step.gradients.find(name);
    comparison.compare(name,
                       gradient == step.gradients.end() ? Expected{parameter.reals}
                                                        : updated(parameter, gradient->second),
                       toDoubles(found->second));
  }
  return comparison.verdict();
}

/// The value that options give a setting, the last if there are several.
static std::optional<std::string> given(const CompileOptions &options, StringRef word) {
  for (const train::GivenSetting &setting : llvm::reverse(options.settings))
    if (setting.word == word)
      return setting.value;
  return std::nullopt;
}

static Rounding roundingOf(const Way &way) {
  const std::string precision = given(way.options, "precision").value_or("fp32");
  if (precision == "fp16")
    return Rounding::ofF16(way.lossScale);
  const bool isLow = precision == "bf16" || given(way.options, "eval_precision") == "bf16";
  return isLow ? Rounding::ofBf16() : Rounding::ofF32();
}

/// Whether two ways to run a program have the same bits.
static bool sameBits(const ComputedStep &a, const ComputedStep &b) {
  auto same = [](const std::vector<float> &x, const std::vector<float> &y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
  };
  return same({a.loss, a.evalLoss, a.evalTargets}, {b.loss, b.evalLoss, b.evalTargets}) &&
         llvm::all_of_zip(a.parameters, b.parameters,
                          [&](const auto &x, const auto &y) { return same(x.second, y.second); });
}

/// A plan with other options that promise the same bits.
static Verdict checkSameBits(ModuleOp module, const CompileOptions &options, const StepInputs &inputs,
                             const ComputedStep &expected) {
  const Result<std::vector<uint8_t>> plan = compilePlan(module, options);
  if (!plan.ok())
    return {Verdict::kRefused, plan.status().message() + "\n"};
  const Result<ComputedStep> computed = runPlan(*plan, inputs, {});
  if (!computed.ok())
    return {Verdict::kRefused, computed.status().message() + "\n"};
  if (!sameBits(expected, *computed))
    return {Verdict::kWrong, fmt::format("other bits with --zero-stage={}\n", *given(options, "zero_stage"))};
  return {};
}

/// A plan for GPUs with products of fp8: the runtime's verifier takes it, too.
static Verdict checkFp8Plan(ModuleOp module, CompileOptions options) {
  std::erase_if(options.settings,
                [](const train::GivenSetting &each) { return each.word == "library_calls"; });
  for (const auto &[word, value] :
       {std::pair("target", "cuda"), {"product_type", "fp8"}, {"gpu_levels", "none"}})
    options.settings.push_back({word, value});
  const Result<std::vector<uint8_t>> plan = compilePlan(module, options);
  const Status status = plan.ok() ? verifyPlan(*plan) : plan.status();
  return status.ok() ? Verdict{}
                     : Verdict{Verdict::kRefused, "with products of fp8: " + status.message() + "\n"};
}

/// Whether the model can be made for as many samples as a step of one rank has; its text may hold the batch.
static bool canAccumulate(ModuleOp model, const CompileOptions &options) {
  ScopedDiagnosticHandler quiet(model.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy = model.clone();
  for (auto program : copy->getOps<train::ProgramOp>())
    if (failed(train::applyOptions(program, {{"accumulate", *given(options, "accumulate")}})))
      return false;
  return succeeded(instantiate(*copy));
}

Verdict checkProgram(MLIRContext &context, const std::string &text, const Way &way, unsigned seed,
                     Fault *fault) {
  OwningOpRef<ModuleOp> module = parse(context, text);
  if (!module)
    return {Verdict::kIllegal, "does not parse"};
  CompileOptions options = way.options;
  if (given(options, "accumulate") && !canAccumulate(*module, options))
    std::erase_if(options.settings,
                  [](const train::GivenSetting &each) { return each.word == "accumulate"; });
  const bool accumulates = given(options, "accumulate").has_value();
  auto numberOf = [&](StringRef word) { return std::stoul(given(options, word).value_or("1")); };
  const Result<std::vector<uint8_t>> plan = compilePlan(*module, options, fault);
  if (fault && !fault->wasMade)
    return {Verdict::kIllegal, "has no place for the fault"};
  FailureOr<Step> step =
      expectStep(*module, numberOf("ranks") * numberOf("accumulate"), seed, roundingOf(way));
  if (failed(step))
    return {Verdict::kIllegal, ""};
  if (!plan.ok())
    return {Verdict::kRefused, plan.status().message() + "\n"};
  const StepInputs inputs = inputsOf(*step, seed);
  const Result<ComputedStep> computed = runPlan(*plan, inputs, {.threads = way.threads});
  if (!computed.ok())
    return {Verdict::kRefused, computed.status().message() + "\n"};
  if (way.emulates) {
    const Result<ComputedStep> emulated = runPlan(*plan, inputs, {.emulationSeed = seed});
    if (!emulated.ok())
      return {Verdict::kRefused, emulated.status().message() + "\n"};
    if (!sameBits(*computed, *emulated))
      return {Verdict::kWrong, "other bits on the emulated device\n"};
  }
  if (way.makesFp8)
    if (Verdict verdict = checkFp8Plan(*module, options); verdict.isFault())
      return verdict;
  if (way.otherStage && !accumulates) {
    CompileOptions other = options;
    other.settings.push_back({"zero_stage", std::to_string(*way.otherStage)});
    if (Verdict verdict = checkSameBits(*module, other, inputs, *computed); verdict.isFault())
      return verdict;
  }
  if (step->mayOverflow)
    return computed->isFinite ? Verdict{Verdict::kUnstable, ""} : checkSkippedStep(inputs, *computed);
  return compareSteps(*step, *computed);
}

// --- Reduction ---

/// The ops of models and blocks that have results, the last first.
static SmallVector<Operation *> opsOf(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa_and_present<nn::ModelOp, nn::BlockOp>(op->getParentOp()))
      ops.push_back(op);
  });
  std::reverse(ops.begin(), ops.end());
  return ops;
}

/// The text without op number `index`, whose results are replaced by value number `choice` of those before
/// it; empty if there is no such op or value.
static std::string without(MLIRContext &context, const std::string &text, size_t index, size_t choice) {
  OwningOpRef<ModuleOp> module = parse(context, text);
  SmallVector<Operation *> ops = opsOf(*module);
  Operation *op = ops[index];
  if (op->hasTrait<OpTrait::IsTerminator>() || isa<nn::ReturnOp>(op))
    return "";
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getBlock()->getArguments());
  if (choice >= (op->use_empty() ? 1 : values.size()))
    return "";
  for (Value result : op->getResults())
    if (!result.use_empty())
      result.replaceAllUsesWith(values[choice]);
  op->erase();
  std::string shorter;
  llvm::raw_string_ostream stream(shorter);
  for (Operation &each : *module->getBody())
    stream << each << "\n";
  return shorter;
}

std::string reduceProgram(MLIRContext &context, const std::string &text, const Way &way, unsigned seed,
                          Verdict::Kind fault) {
  std::string smallest = text;
  auto isSame = [&](const std::string &candidate) {
    return !candidate.empty() && checkProgram(context, candidate, way, seed).kind == fault;
  };
  for (size_t index = 0; index < opsOf(*parse(context, smallest)).size();) {
    bool shrunk = false;
    for (size_t choice = 0; choice < 4 && !shrunk; ++choice)
      if (const std::string candidate = without(context, smallest, index, choice); isSame(candidate)) {
        smallest = candidate;
        shrunk = true;
      }
    index += shrunk ? 0 : 1;
  }
  return smallest;
}

} // namespace trainc::programs
