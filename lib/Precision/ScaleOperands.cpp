// Pass `scale-operands`: computes matrix products of the training step in fp8, with scales that are states.
#include "dialects/Dist/Dist.h"
#include "dialects/Train/Precision.h"
#include "lib/Precision/Fp8Choice.h"
#include "lib/Precision/Passes.h"
#include "lib/Precision/ScaleSet.h"
#include "lib/Support/SourceName.h"
#include "plan/settings/settings.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_SCALEOPERANDS
#include "lib/Precision/Passes.h.inc"

/// A mean loss has gradients of about 1 / targets. With a scale of 1 the gradients of the first steps would
/// underflow in fp8.
static double firstGradientScale(train::ProgramOp program) {
  const int64_t targets = train::kMicroBatch.given(program).value_or(1) *
                          train::kSeqLen.given(program).value_or(1) * train::kAccumulate.of(program) *
                          train::kRanks.of(program);
  return std::ldexp(1, -int(llvm::Log2_64_Ceil(uint64_t(targets))));
}

namespace {

/// Rewrites the chosen ops of one entry to take fp8.
class OperandScaler {
public:
  OperandScaler(train::EntryOp entry, train::ProgramOp program)
      : entry(entry), choice(entry), values("values", Float8E4M3FNType::get(entry.getContext()), 1),
        gradients("gradients", Float8E5M2Type::get(entry.getContext()), firstGradientScale(program)) {}

  bool hasOps() const { return !choice.ops().empty(); }
  void run(ModuleOp module, train::EntryOp init);

private:
  ScaleSet &setOf(Value value) { return choice.isForward(value) ? values : gradients; }
  void name(const ScaledOp &scaled);
  Value build(const ScaledOp &scaled);

  train::EntryOp entry;
  Fp8Choice choice;
  ScaleSet values, gradients;
  llvm::DenseSet<Value> named;
  llvm::StringSet<> names;
  /// converted values, and parameters converted again for the backward
  llvm::DenseMap<Value, ScaledValue> converted, recomputed;
};

} // namespace

/// Names operands by the scope of their first reader and their role there, so that names do not depend on the
/// strategy.
void OperandScaler::name(const ScaledOp &scaled) {
  const StringRef scope = scopeName(scaled.op->getLoc());
  for (unsigned operand : Fp8OpInterface(scaled.op).getFp8Operands()) {
    Value value = scaled.op->getOperand(operand);
    if (!named.insert(value).second)
      continue;
    const StringRef what = !choice.isForward(value)       ? "gradient"
                           : choice.isOfParameters(value) ? "parameter"
                                                          : "value";
    const std::string base = ((scope.empty() ? "product" : scope) + "." + what).str();
    std::string unique = base;
    for (int number = 2; !names.insert(unique).second; ++number)
      unique = base + "." + std::to_string(number);
    setOf(value).add(value, unique);
  }
}

/// Builds the op on fp8 operands. The backward converts parameters again, so that gathered ones need not be
/// kept.
Value OperandScaler::build(const ScaledOp &scaled) {
  Fp8OpInterface op = scaled.op;
  OpBuilder builder(op);
  auto operands = llvm::map_to_vector(op.getFp8Operands(), [&](unsigned operand) {
    Value value = op->getOperand(operand);
    const bool isRecomputed = !scaled.isForward && choice.isOfParameters(value);
    ScaledValue &made = (isRecomputed ? recomputed : converted)[value];
    if (!made.value)
      made = setOf(value).convert(builder, value, isRecomputed);
    return made;
  });
  return op.buildOfFp8(builder, operands);
}

void OperandScaler::run(ModuleOp module, train::EntryOp init) {
  for (const ScaledOp &scaled : choice.ops())
    name(scaled);
  for (ScaleSet *set : {&values, &gradients})
    if (!set->isEmpty())
      set->declare(module, init, entry);
  auto built = llvm::map_to_vector(choice.ops(), [&](const ScaledOp &scaled) { return build(scaled); });
  for (auto [scaled, result] : llvm::zip_equal(
           choice.ops(), built)) { // erasing starts here, because values are identified by their addresses
    scaled.op->getResult(0).replaceAllUsesWith(result);
    scaled.op->erase();
  }
  for (ScaleSet *set : {&values, &gradients})
    if (!set->isEmpty())
      set->report(entry);
}

namespace {

struct ScaleOperands : impl::ScaleOperandsBase<ScaleOperands> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>())
      if (train::precisionOf(program).multipliesFp8 && failed(scale(program)))
        signalPassFailure();
  }

private:
  LogicalResult scale(train::ProgramOp program) {
    auto init = findEntry<train::EntryOp>(getOperation(), EntryKind::init);
    auto entry = findEntry<train::EntryOp>(getOperation(), EntryKind::micro_step);
    if (!init || !entry)
      return program.emitOpError("the module has no entries @init and @micro_step; run instantiate first");
    OperandScaler scaler(entry, program);
    if (scaler.hasOps())
      scaler.run(getOperation(), init);
    else
      program.emitWarning("product_type (--product-type) fp8 does nothing: no product of activations and a "
                          "parameter before the last has sizes that are multiples of 16");
    return success();
  }
};

} // namespace
} // namespace trainc
