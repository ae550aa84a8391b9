// Types in which a program stores its numbers and computes.
#include "dialects/Train/Precision.h"

#include "base/name_pattern.h"
#include "plan/settings/settings.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

static FloatType floatTypeOf(MLIRContext *context, NumberType type) {
  switch (type) {
  case NumberType::f32:
    return Float32Type::get(context);
  case NumberType::bf16:
    return BFloat16Type::get(context);
  case NumberType::f16:
    return Float16Type::get(context);
  }
  llvm_unreachable("unknown type");
}

/// Returns the type in which a precision computes.
static NumberType computeTypeOf(Precision precision) {
  switch (precision) {
  case Precision::fp32:
    return NumberType::f32;
  case Precision::bf16:
    return NumberType::bf16;
  case Precision::fp16:
    return NumberType::f16;
  }
  llvm_unreachable("unknown precision");
}

bool PrecisionSettings::keepsF32(StringRef parameter) const {
  return llvm::any_of(keep, [&](StringRef pattern) { return matchesPattern(pattern, parameter); });
}

PrecisionSettings trainc::train::precisionOf(ProgramOp program) {
  const auto type = [&](NumberType number) { return floatTypeOf(program.getContext(), number); };
  const Precision precision = kPrecision.of(program);
  PrecisionSettings settings;
  settings.compute = type(computeTypeOf(precision));
  settings.eval = type(computeTypeOf(kEvalPrecision.given(program).value_or(precision)));
  settings.params = type(kParamType.of(program));
  settings.optimizerStates = type(kOptimizerStates.of(program));
  settings.reduce = type(kReduceType.of(program));
  settings.multipliesFp8 = kProductType.given(program) == ProductType::fp8;
  if (const std::optional<std::string_view> patterns = kKeepF32.given(program))
    StringRef(*patterns).split(settings.keep, ',');
  return settings;
}
