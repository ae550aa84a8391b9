// Pass `insert-casts`: which ops of the forward compute in the low type.
#include "lib/Precision/ElementTypes.h"
#include "lib/Precision/Passes.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_INSERTCASTS
#include "lib/Precision/Passes.h.inc"

namespace {

/// Casts operands in one entry, op by op.
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
  Value round(Value value);
  Value as(Value value, Type element);
  Value makeAs(Value value, Type element);

  SymbolTable symbols;
  const train::PrecisionSettings &settings;
  Type low, full;
  /// Numbers of the text: they are what the others need.
  llvm::DenseSet<Value> constants;
  /// Columns of the data, such as targets, and what is made of them alone: they keep their digits.
  llvm::DenseSet<Value> ofColumns;
  /// Parameters in the low type, and what is moved of them alone. They follow activations.
  llvm::DenseSet<Value> ofParameters;
  /// Parameters that the program keeps in f32, and what is moved of them alone.
  llvm::DenseSet<Value> ofKept;
  /// Each cast is made once, where its operand is known.
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
    // An evaluation in another type takes columns as they are, and whole numbers keep their digits.
    if (isa<train::InputOp>(op) && settings.roundsColumns() && settings.buffers == low)
      round(op.getResult(0));
    else
      ofColumns.insert(op.getResult(0));
  } else if (op.hasTrait<OpTrait::ConstantLike>()) {
    constants.insert(op.getResult(0));
  } else if (isa<InferTypeOpInterface>(op) && llvm::any_of(op.getOperands(), floatElement)) {
    visitTensorOp(op);
  }
}

void Caster::visitTensorOp(Operation &op) {
  auto isMadeOf = [&](const llvm::DenseSet<Value> &values) { // and of nothing else, such as indices
    return llvm::all_of(op.getOperands(), [&](Value operand) {
      return constants.contains(operand) || values.contains(operand);
    });
  };
  auto precision = dyn_cast<PrecisionOpInterface>(op);
  const auto needs = precision ? precision.getPrecisionClass() : PrecisionClass::Full;
  const bool keeps = needs == PrecisionClass::Keep;
  // Columns chosen by a mask, and their logarithms, are data, too.
  const bool isData =
      needs != PrecisionClass::Low && llvm::all_of(op.getOperands(), [&](Value operand) {
        return !floatElement(operand) || constants.contains(operand) || ofColumns.contains(operand);
      });
  const bool follows = keeps && isMadeOf(ofParameters), isConstant = keeps && isMadeOf(constants);
  const bool isKept = keeps && isMadeOf(ofKept);
  Type element = elementOf(op);
  for (OpOperand &operand : op.getOpOperands())
    if (floatElement(operand.get()))
      operand.set(as(operand.get(), element));
  inferAgain(&op);
  if (isConstant)
    constants.insert(op.result_begin(), op.result_end());
  else if (isData)
    ofColumns.insert(op.result_begin(), op.result_end());
  else if (follows)
    ofParameters.insert(op.result_begin(), op.result_end());
  else if (isKept)
    ofKept.insert(op.result_begin(), op.result_end());
}

/// Of activations the lowest type decides: sums of both kinds need no more digits than the shorter has. What
/// meets a parameter that is kept in f32 is f32, products too, and what meets a column of the data.
Type Caster::elementOf(Operation &op) {
  auto precision = dyn_cast<PrecisionOpInterface>(op);
  const bool readsKept =
      llvm::any_of(op.getOperands(), [&](Value operand) { return ofKept.contains(operand); });
  if (!precision || precision.getPrecisionClass() == PrecisionClass::Full || readsKept)
    return full;
  if (precision.getPrecisionClass() == PrecisionClass::Low)
    return low;
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

/// All that read the value read it in the low type.
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
  Value made = makeAs(value, element); // which may make further casts
  return casts[{value, element}] = made;
}

/// Of what is moved of parameters the parameters are cast, before they are repeated.
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
  inferAgain(copy);
  return copy->getResult(result);
}

/// Caches hold what attention reads.
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

/// The entry goes on in f32, with the numbers of the columns that the others read: a step's targets may be
/// weights.
static void roundColumns(train::EntryOp entry, Type low) {
  for (auto column : llvm::make_early_inc_range(entry.getBody().getOps<train::InputOp>())) {
    if (!floatElement(column.getResult()))
      continue;
    OpBuilder builder(entry.getContext());
    builder.setInsertionPointAfter(column);
    nn::TensorBuilder build(builder, column.getLoc());
    Value rounded = build.convert(column.getResult(), low),
          wide = build.convert(rounded, builder.getF32Type());
    column.getResult().replaceAllUsesExcept(wide, rounded.getDefiningOp());
  }
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
    if (auto entry = findEntry<train::EntryOp>(module, begin_step); entry && settings.roundsColumns())
      roundColumns(entry, settings.compute);
  }
};

} // namespace
} // namespace trainc
