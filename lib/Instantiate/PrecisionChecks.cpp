#include "lib/Instantiate/PrecisionChecks.h"

#include "base/name_pattern.h"
#include "dialects/NN/Syntax.h"
#include "dialects/Train/Precision.h"
#include "plan/settings/settings.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace trainc;

/// Returns the setting's word in force.
template <typename Enum>
static StringRef wordOf(train::ProgramOp program, const train::Choice<Enum> &setting) {
  return setting.wordFor(setting.of(program));
}

/// Warns about settings without effect, because no entry that they concern computes in a low type.
static void warnOfIdleTypes(train::ProgramOp program, const train::PrecisionSettings &settings) {
  if (!settings.computesLow() && settings.eval.isF32() && !settings.keep.empty())
    program.emitWarning(
        "keep_f32 (--keep-f32) does nothing with precision fp32, which reads all parameters in f32");
}

/// Low-precision products do not depend on fp32_products, but the setting would restrict the CPUs of the
/// plan.
static void warnOfIdleProducts(train::ProgramOp program, const train::PrecisionSettings &settings) {
  const train::Fp32Arithmetic products = train::kFp32Products.of(program);
  const bool mayHaveF32 = !settings.computesLow() || settings.eval.isF32() || !settings.keep.empty();
  if (products == train::Fp32Arithmetic::fma || mayHaveF32)
    return;
  auto warning = program.emitWarning("fp32_products (--fp32-products) ")
                 << wordOf(program, train::kFp32Products) << " does nothing for products of "
                 << wordOf(program, train::kPrecision) << " numbers";
  warning << (products == train::Fp32Arithmetic::bf16x3
                  ? ", and the plan runs on CPUs with AMX alone; leave it out"
                  : "; leave it out");
}

/// Warns if the optimizer has no moments.
static void warnOfIdleStates(train::ProgramOp program, const train::PrecisionSettings &settings) {
  if (!program.getOptimizer().hasMoments() && settings.optimizerStates.isBF16())
    program.emitWarning("optimizer_states (--optimizer-states) bf16 does nothing for sgd without momentum, "
                        "which has no states; leave it out");
}

/// Reports words that require a program that computes in bf16.
static LogicalResult checkLowWords(train::ProgramOp program) {
  const StringRef precision = wordOf(program, train::kPrecision);
  const bool isBf16 = train::kPrecision.of(program) == train::Precision::bf16;
  if (train::kParamType.of(program) == train::NumberType::bf16 && !isBf16)
    return program.emitError("param_type (--param-type) bf16 holds parameters in bf16, which a program with "
                             "precision ")
           << precision
           << " cannot; expected precision bf16 (--precision=bf16), or param_type f32 (--param-type=f32)";
  if (train::kProductType.given(program) == train::ProductType::fp8 && !isBf16)
    return program.emitError(
               "product_type (--product-type) fp8 multiplies matrices in fp8, which a program with "
               "precision ")
           << precision
           << " cannot; expected precision bf16 (--precision=bf16), or product_type bf16 "
              "(--product-type=bf16)";
  return success();
}

LogicalResult trainc::checkPrecision(train::ProgramOp program) {
  if (failed(checkLowWords(program)))
    return failure();
  const train::PrecisionSettings settings = train::precisionOf(program);
  warnOfIdleTypes(program, settings);
  warnOfIdleProducts(program, settings);
  warnOfIdleStates(program, settings);
  return success();
}

/// Returns "; did you mean 'a'?", or a list of some parameters.
static std::string suggestion(StringRef pattern, ArrayRef<StringRef> parameters) {
  constexpr size_t kShown = 5;
  if (StringRef nearest = nearestName(pattern, parameters); !nearest.empty())
    return ("; did you mean '" + nearest + "'?").str();
  if (parameters.empty())
    return "; it has none";
  return "; it has " + llvm::join(parameters.take_front(kShown), ", ") +
         (parameters.size() > kShown ? ", ..." : "");
}

LogicalResult trainc::checkKept(const Binding &binding) {
  train::ProgramOp program = binding.program;
  SmallVector<StringRef> parameters;
  for (auto state : ModuleOp(binding.module).getOps<train::StateOp>())
    if (state.getRole() == train::StateRole::parameter)
      parameters.push_back(state.getSymName());
  for (StringRef pattern : train::precisionOf(program).keep) {
    if (llvm::none_of(parameters, [&](StringRef name) { return matchesPattern(pattern, name); }))
      return program.emitError() << "keep_f32 (--keep-f32) \"" << pattern
                                 << "\" matches no parameter of model @" << program.getModel()
                                 << "; `*` stands for any text" << suggestion(pattern, parameters);
  }
  return success();
}
