#include "lib/Instantiate/Forward.h"

#include "dialects/NN/Builders.h"
#include "lib/Instantiate/ModelSize.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace trainc;

namespace {
/// Walks the model's text and builds its ops on concrete values.
class Expander {
public:
  Expander(OpBuilder &builder, EntryScope &scope) : builder(builder), scope(scope) {}

  FailureOr<Forward> expandModel(nn::ModelOp model, ValueRange columns, AfterOp afterOp);

private:
  LogicalResult expandOp(Operation *op, IRMapping &values);
  LogicalResult expandLayer(LayerOpInterface layer, IRMapping &values);
  LogicalResult expandTensorOp(Operation *op, IRMapping &values);
  LogicalResult expandUses(BlockUserOpInterface op, IRMapping &values);
  FailureOr<SmallVector<Value>> expandBlock(Operation *use, nn::BlockOp block, StringRef component,
                                            ValueRange arguments);
  LogicalResult addOutput(nn::OutputOp op, Value value);
  LogicalResult addLoss(nn::LossOp op, Value value);

  /// A block that is being expanded.
  struct Application {
    Operation *use;
    nn::BlockOp block;
    std::string path;
  };

  OpBuilder &builder;
  EntryScope &scope;
  Forward forward;
  SmallVector<Application> applications;
};
} // namespace

// --- Operands of different shapes, which from the phase `step` on there are none of ---

/// Broadcasts `shape` with `other` (right-aligned, size 1 is repeated). Returns the first mismatching
/// dimension, counted from the end, if they do not match.
static std::optional<size_t> widen(SmallVectorImpl<int64_t> &shape, ArrayRef<int64_t> other) {
  if (other.size() > shape.size())
    shape.insert(shape.begin(), other.size() - shape.size(), 1);
  for (size_t fromEnd = 1; fromEnd <= other.size(); ++fromEnd) {
    int64_t &size = shape[shape.size() - fromEnd], found = other[other.size() - fromEnd];
    if (size != found && size != 1 && found != 1)
      return fromEnd;
    size = size == 1 ? found : size;
  }
  return std::nullopt;
}

LogicalResult trainc::broadcastOperands(OpBuilder &builder, Operation *op) {
  SmallVector<int64_t> shape;
  for (Value operand : op->getOperands()) {
    SmallVector<int64_t> before = shape;
    std::optional<size_t> bad = widen(shape, nn::shapeOf(operand));
    if (!bad)
      continue;
    InFlightDiagnostic error = op->emitOpError("operands ");
    llvm::interleaveComma(op->getOperandTypes(), error);
    ArrayRef<int64_t> found = nn::shapeOf(operand);
    return error << " have no common shape: dimension " << int64_t(shape.size() - *bad) << " is "
                 << before[before.size() - *bad] << " in one and " << found[found.size() - *bad]
                 << " in another";
  }
  if (failed(nn::checkSizes(shape, [&] { return op->emitOpError(); })))
    return failure();
  nn::TensorBuilder b(builder, op->getLoc());
  for (OpOperand &operand : op->getOpOperands())
    operand.set(b.broadcastTo(operand.get(), shape));
  return success();
}

// --- Blocks ---

/// Verifies a value against the type of a block's argument; `?` matches any size.
static LogicalResult checkArgument(Operation *use, nn::BlockOp block, size_t index, Type found) {
  auto declared = cast<RankedTensorType>(cast<TypeAttr>(block.getArgumentTypes()[index]).getValue());
  auto actual = cast<RankedTensorType>(found);
  bool fits = declared.getRank() == actual.getRank() && declared.getElementType() == actual.getElementType();
  std::optional<size_t> dimension;
  for (size_t i = 0; fits && i < declared.getShape().size(); ++i)
    if (!declared.isDynamicDim(i) && declared.getDimSize(i) != actual.getDimSize(i))
      dimension = i;
  if (fits && !dimension)
    return success();
  InFlightDiagnostic error = use->emitOpError("argument ")
                             << index << " of block @" << block.getSymName() << " is declared " << declared
                             << ", found " << actual;
  if (dimension)
    error << ": dimension " << *dimension << " must be " << declared.getDimSize(*dimension) << ", found "
          << actual.getDimSize(*dimension);
  error.attachNote(block.getLoc()) << "the block is here";
  return error;
}

FailureOr<SmallVector<Value>> Expander::expandBlock(Operation *use, nn::BlockOp block, StringRef component,
                                                    ValueRange arguments) {
  for (Application &outer : applications)
    if (outer.block == block)
      return use->emitOpError("block @") << block.getSymName() << " contains itself";
  if (applications.size() == kMaxNesting)
    return use->emitOpError("lies within ")
           << kMaxNesting << " other blocks, which is as deep as they may be";
  IRMapping values;
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    if (failed(checkArgument(use, block, index, argument.getType())))
      return failure();
    values.map(block.getBody().getArgument(index), argument);
  }
  EntryScope::Enter enter(scope, component, block.getPlainName());
  applications.push_back({use, block, scope.fullName("")});
  for (Operation &op : llvm::drop_end(block.getBody().front()))
    if (failed(expandOp(&op, values)))
      return failure();
  applications.pop_back();
  SmallVector<Value> results;
  for (Value value : block.getBody().front().back().getOperands())
    results.push_back(values.lookup(value));
  if (scope.training())
    train::BlockUseOp::create(builder, use->getLoc(), scope.block(), arguments, results);
  return results;
}

/// Expands a block for each use; the results of one expansion are the first arguments of the next.
LogicalResult Expander::expandUses(BlockUserOpInterface op, IRMapping &values) {
  SmallVector<nn::BlockOp> blocks;
  for (FlatSymbolRefAttr name : op.getUsedBlocks())
    blocks.push_back(SymbolTable::lookupNearestSymbolFrom<nn::BlockOp>(op, name));
  SmallVector<Value> arguments;
  for (Value operand : op->getOperands())
    arguments.push_back(values.lookup(operand));
  SmallVector<Value> results;
  for (uint64_t use = 0; use < op.getUses(); ++use) {
    // nn.apply has a single use, and may have more results than arguments
    if (use > 0)
      llvm::copy(results, arguments.begin());
    FailureOr<SmallVector<Value>> made =
        expandBlock(op, blocks[use % blocks.size()], op.getScopeOf(use), arguments);
    if (failed(made))
      return failure();
    results = std::move(*made);
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results))
    values.map(result, value);
  return success();
}

// --- Layers and tensor ops ---

/// Verifies that a type is supported, so that later ops need not check element types and sizes.
static LogicalResult checkType(Operation *op, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  if (tensor.getEncoding())
    return op->emitOpError("has a tensor of type ")
           << type << "; expected none but sizes and the element type";
  if (!element.isF32() && !element.isInteger(1) && !element.isInteger(32) && !element.isInteger(64))
    return op->emitOpError("has a tensor of type ") << type << "; models compute with f32, i32, i64 and i1";
  return nn::checkSizes(tensor.getShape(), [&] { return op->emitOpError(); });
}

LogicalResult Expander::expandLayer(LayerOpInterface layer, IRMapping &values) {
  SmallVector<Value> operands;
  for (Value operand : layer->getOperands())
    operands.push_back(values.lookup(operand));
  FailureOr<SmallVector<Value>> results = layer.expand(builder, operands, scope);
  if (failed(results))
    return failure();
  for (auto [result, value] : llvm::zip_equal(layer->getResults(), *results)) {
    if (failed(checkType(layer, value.getType())))
      return failure();
    values.map(result, value);
  }
  return success();
}

LogicalResult Expander::expandTensorOp(Operation *op, IRMapping &values) {
  auto typed = dyn_cast<InferTypeOpInterface>(op);
  if (!typed)
    return op->emitOpError("is not allowed in a model; expected tensor ops, layers, nn.apply or nn.repeat");
  Operation *concrete = builder.clone(*op, values);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(concrete);
  if (failed(nn::materializeNumber(builder, concrete)))
    return failure();
  if (isa<ElementwiseOpInterface>(op) && failed(broadcastOperands(builder, concrete)))
    return failure();
  SmallVector<Type> types;
  if (failed(typed.inferReturnTypes(op->getContext(), concrete->getLoc(), concrete->getOperands(),
                                    concrete->getAttrDictionary(), concrete->getPropertiesStorage(),
                                    concrete->getRegions(), types)))
    return failure();
  for (auto [result, type] : llvm::zip(concrete->getResults(), types)) {
    if (failed(checkType(op, type)))
      return failure();
    result.setType(type);
  }
  return success();
}

LogicalResult Expander::addOutput(nn::OutputOp op, Value value) {
  if (forward.outputs.try_emplace(scope.fullName(op.getName()), value).second)
    return success();
  return op.emitOpError("a second output named '") << scope.fullName(op.getName()) << "'";
}

LogicalResult Expander::addLoss(nn::LossOp op, Value value) {
  std::string name = scope.fullName(op.getName());
  if (!isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType()))
    return op.emitOpError("needs a float tensor, found ") << value.getType();
  if (llvm::any_of(forward.losses, [&](LossTerm &term) { return term.name == name; }))
    return op.emitOpError("a second loss named '") << name << "'";
  forward.losses.push_back({op.getLoc(), name, value, op.getScale().convertToDouble()});
  return success();
}

LogicalResult Expander::expandOp(Operation *op, IRMapping &values) {
  scope.startOp(op);
  if (auto user = dyn_cast<BlockUserOpInterface>(op))
    return expandUses(user, values);
  if (auto output = dyn_cast<nn::OutputOp>(op))
    return addOutput(output, values.lookup(output.getValue()));
  if (auto loss = dyn_cast<nn::LossOp>(op))
    return addLoss(loss, values.lookup(loss.getValue()));
  if (auto layer = dyn_cast<LayerOpInterface>(op))
    return expandLayer(layer, values);
  return expandTensorOp(op, values);
}

FailureOr<Forward> Expander::expandModel(nn::ModelOp model, ValueRange columns, AfterOp afterOp) {
  // Adds to errors inside a block the use of the block for which they hold.
  ScopedDiagnosticHandler notes(model.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      for (Application &application : llvm::reverse(applications))
        diagnostic.attachNote(application.use->getLoc())
            << "in scope '" << application.path << "', applied here";
    return failure();
  });
  IRMapping &values = forward.values;
  for (auto [argument, column] : llvm::zip(model.getBody().getArguments(), columns)) {
    if (failed(checkType(model, column.getType())))
      return failure();
    values.map(argument, column);
  }
  for (Operation &op : model.getBody().front()) {
    if (failed(expandOp(&op, values)))
      return failure();
    if (afterOp)
      afterOp(&op, values);
  }
  return std::move(forward);
}

FailureOr<Forward> trainc::buildForward(nn::ModelOp model, OpBuilder &builder, EntryScope &scope,
                                        ValueRange columns, AfterOp afterOp) {
  return Expander(builder, scope).expandModel(model, columns, afterOp);
}
