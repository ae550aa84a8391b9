// Pass `insert-casts`: casts operands of forward ops that compute in the low type.
#include "lib/Precision/ElementTypes.h"
#include "lib/Precision/Passes.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_INSERTCASTS
#include "lib/Precision/Passes.h.inc"

namespace {

/// Casts the operands of one entry, op by op.
class Caster {
public:
  Caster(ModuleOp module, const train::PrecisionSettings &settings, Type low)
      : symbols(module), settings(settings), low(low), full(Float32Type::get(low.getContext())) {}

  void run(train::EntryOp entry) {
    for (Operation &op : llvm::make_early_inc_range(entry.getBody().front()))
      visit(op);
  }

private:
  void visit(Operation &op);
  void visitTensorOp(Operation &op);
  Type elementOf(Operation &op);
  /// Whether the operand is f32 and may remain so in an op that computes in the low type.
  bool staysF32(OpOperand &operand);
  Value round(Value value);
  Value as(Value value, Type element);
  Value makeAs(Value value, Type element);

  SymbolTable symbols;
  const train::PrecisionSettings &settings;
  Type low, full;
  /// Constants of the text; they take the type of the other operands.
  llvm::DenseSet<Value> constants;
  /// Data columns, such as targets, and values derived from them alone; they are not rounded.
  llvm::DenseSet<Value> ofColumns;
  /// Parameters in the low type, and values that only move their elements. They take the type of activations.
  llvm::DenseSet<Value> ofParameters;
  /// Parameters that the program keeps in f32, and values that only move their elements.
  llvm::DenseSet<Value> ofKept;
  /// Casts by operand and type; each is created once, after its operand.
  llvm::DenseMap<std::pair<Value, Type>, Value> casts;
};

} // namespace

void Caster::visit(Operation &op) {
  if (auto get = dyn_cast<train::GetOp>(op)) {
    auto state = symbols.lookup<train::StateOp>(get.getState());
    if (state.getRole() != train::StateRole::parameter || !floatElement(get.getResult()))
      return;
    if (settings.keepsF32(state.getSymName()))
      ofKept.insert(get.getResult());
    else
      ofParameters.insert(round(get.getResult()));
  } else if (auto set = dyn_cast<train::SetOp>(op)) {
    auto state = symbols.lookup<train::StateOp>(set.getState());
    if (floatElement(set.getValue()))
      set.getValueMutable().assign(
          as(set.getValue(), cast<RankedTensorType>(state.getType()).getElementType()));
  } else if (auto minimize = dyn_cast<train::MinimizeOp>(op)) {
    minimize.getLossMutable().assign(as(minimize.getLoss(), full));
  } else if (isColumn(op)) {
    ofColumns.insert(op.getResult(0));
  } else if (op.hasTrait<OpTrait::ConstantLike>()) {
    constants.insert(op.getResult(0));
  } else if (isa<InferTypeOpInterface>(op) && llvm::any_of(op.getOperands(), floatElement)) {
    visitTensorOp(op);
  }
}

void Caster::visitTensorOp(Operation &op) {
  auto isMadeOf = [&](const llvm::DenseSet<Value> &values) { // all operands but non-floats, such as indices
    return llvm::all_of(op.getOperands(), [&](Value operand) {
      return constants.contains(operand) || values.contains(operand);
    });
  };
  auto precision = dyn_cast<PrecisionOpInterface>(op);
  const auto needs = precision ? precision.getPrecisionClass() : PrecisionClass::Full;
  const bool keeps = needs == PrecisionClass::Keep;
  // Masked columns and logarithms of columns are data as well.
  const bool isData =
      needs != PrecisionClass::Low && llvm::all_of(op.getOperands(), [&](Value operand) {
        return !floatElement(operand) || constants.contains(operand) || ofColumns.contains(operand);
      });
  const bool follows = keeps && isMadeOf(ofParameters), isConstant = keeps && isMadeOf(constants);
  const bool isKept = keeps && isMadeOf(ofKept);
  Type element = elementOf(op);
  for (OpOperand &operand : op.getOpOperands())
    if (floatElement(operand.get()) && !staysF32(operand))
      operand.set(as(operand.get(), element));
  reinferTypes(&op);
  if (isConstant)
    constants.insert(op.result_begin(), op.result_end());
  else if (isData)
    ofColumns.insert(op.result_begin(), op.result_end());
  else if (follows)
    ofParameters.insert(op.result_begin(), op.result_end());
  else if (isKept)
    ofKept.insert(op.result_begin(), op.result_end());
}

bool Caster::staysF32(OpOperand &operand) {
  auto precision = dyn_cast<PrecisionOpInterface>(operand.getOwner());
  return precision && precision.mayStayF32(operand.getOperandNumber()) && floatElement(operand.get()) == full;
}

/// Returns the operand that the op updates in place, such as a table in which rows are replaced; null if
/// there is none. The result has its type.
static Value updatedOperand(Operation &op) {
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  const int index = executable ? executable.getInPlaceOperand(0) : -1;
  return index >= 0 ? op.getOperand(unsigned(index)) : Value();
}

/// If activations of both types meet, the low type wins, because the result has no more significant digits.
/// Ops that read a parameter kept in f32, including products, or a data column, compute in f32.
Type Caster::elementOf(Operation &op) {
  auto precision = dyn_cast<PrecisionOpInterface>(op);
  const bool readsKept = llvm::any_of(op.getOpOperands(), [&](OpOperand &operand) {
    return ofKept.contains(operand.get()) && !staysF32(operand);
  });
  if (!precision || precision.getPrecisionClass() == PrecisionClass::Full || readsKept)
    return full;
  if (precision.getPrecisionClass() == PrecisionClass::Low)
    return low;
  if (Value updated = updatedOperand(op); updated && !constants.contains(updated))
    return floatElement(updated);
  bool parameters = false, activations = false;
  if (llvm::any_of(op.getOperands(), [&](Value operand) { return ofColumns.contains(operand); }))
    return full;
  for (Value operand : op.getOperands()) {
    if (!floatElement(operand) || constants.contains(operand))
      continue;
    const bool isParameter = ofParameters.contains(operand);
    if (!isParameter && floatElement(operand) == low)
      return low;
    (isParameter ? parameters : activations) = true;
  }
  return parameters && !activations ? low : full;
}

/// Replaces all uses of the value by its cast to the low type.
Value Caster::round(Value value) {
  Value cast = as(value, low);
  value.replaceAllUsesExcept(cast, cast.getDefiningOp());
  return cast;
}

Value Caster::as(Value value, Type element) {
  if (floatElement(value) == element)
    return value;
  if (auto convert = value.getDefiningOp<nn::ConvertOp>();
      convert && convert.isWidening() && floatElement(convert.getX()) == element)
    return convert.getX();
  if (Value made = casts.lookup({value, element}))
    return made;
  Value made = makeAs(value, element); // may create further casts
  return casts[{value, element}] = made;
}

/// Casts a parameter before its elements are moved, so that repeated elements are cast once.
Value Caster::makeAs(Value value, Type element) {
  Operation *op = value.getDefiningOp();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  if (!ofParameters.contains(value) || isa<nn::ConvertOp>(op))
    return nn::TensorBuilder(builder, value.getLoc()).convert(value, element);
  const unsigned result = cast<OpResult>(value).getResultNumber();
  Operation *copy = builder.clone(*op);
  for (OpOperand &operand : copy->getOpOperands())
    if (floatElement(operand.get()))
      operand.set(as(operand.get(), element));
  reinferTypes(copy);
  return copy->getResult(result);
}

/// Caches have the type in which attention reads them.
static void retypeCaches(ModuleOp module, Type low) {
  llvm::StringSet<> caches;
  for (auto state : module.getOps<train::StateOp>()) {
    auto type = cast<RankedTensorType>(state.getType());
    if (state.getRole() != train::StateRole::cache || !type.getElementType().isF32())
      continue;
    state.setType(type.clone(low));
    caches.insert(state.getSymName());
  }
  for (auto entry : module.getOps<train::EntryOp>())
    for (auto get : entry.getBody().getOps<train::GetOp>())
      if (caches.contains(get.getState()))
        get.getResult().setType(cast<RankedTensorType>(get.getType()).clone(low));
}

namespace {

struct InsertCasts : impl::InsertCastsBase<InsertCasts> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>())
      insertCasts(getOperation(), train::precisionOf(program));
  }

private:
  static void insertCasts(ModuleOp module, const train::PrecisionSettings &settings) {
    using enum EntryKind;
    if (settings.computesLow())
      retypeCaches(module, settings.compute);
    for (EntryKind kind : {micro_step, eval, prefill, decode}) {
      const FloatType type = kind == eval ? settings.eval : settings.compute;
      if (auto entry = findEntry<train::EntryOp>(module, kind); entry && !type.isF32())
        Caster(module, settings, type).run(entry);
    }
  }
};

} // namespace
} // namespace trainc
