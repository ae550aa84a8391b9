#include "lib/Reference/Interpreter.h"

#include "dialects/NN/NN.h"
#include "lib/Reference/Registry.h"

#include "mlir/IR/OpDefinition.h"

using namespace mlir;
using namespace trainc::reference;
using namespace trainc;

const Registry::Function *Registry::find(Operation *op) const {
  auto found = functions_.find(op->getName().getStringRef());
  return found == functions_.end() ? nullptr : &found->second;
}

const Registry &trainc::reference::registry() {
  static const Registry all = [] {
    Registry functions;
    for (auto *registerFamily :
         {registerElementwise, registerShape, registerLinear, registerAttention, registerNorm,
          registerPosition, registerLoss, registerRandom, registerKernel, registerEntry, registerRanks})
      registerFamily(functions);
    return functions;
  }();
  return all;
}

FailureOr<Tensors> trainc::reference::runOp(Operation &op, Frame &frame) {
  const Registry::Function *function = registry().find(&op);
  if (!function)
    return op.emitOpError("has no function in the reference interpreter (lib/Reference)");
  FailureOr<Tensors> results = (*function)(&op, frame);
  if (succeeded(results))
    for (Tensor &result : *results)
      result.roundShortNumbers();
  return results;
}

LogicalResult trainc::reference::runAndDefine(Operation &op, Frame &frame) {
  FailureOr<Tensors> results = runOp(op, frame);
  if (failed(results))
    return failure();
  assert(results->size() == op.getNumResults() && "one tensor per result");
  for (auto [value, tensor] : llvm::zip(op.getResults(), *results)) {
    assert(tensor.type() == value.getType() && "a result of another type");
    frame.define(value, std::move(tensor));
  }
  return success();
}

FailureOr<Tensors> trainc::reference::runBlock(Block &block, Tensors arguments, EntryMemory *memory) {
  assert(arguments.size() == block.getNumArguments() && "one tensor per block argument");
  Frame frame(memory);
  for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
    frame.define(argument, std::move(tensor));
  for (Operation &op : block) {
    if (!op.hasTrait<OpTrait::IsTerminator>()) {
      if (failed(runAndDefine(op, frame)))
        return failure();
      continue;
    }
    Tensors results;
    for (Value value : op.getOperands())
      results.push_back(frame[value]);
    return results;
  }
  return Tensors{};
}

// --- Kernels and loops ---

namespace {

FailureOr<Tensors> kernel(nn::KernelOp op, Frame &frame) {
  Tensors inputs;
  for (Value input : op.getInputs())
    inputs.push_back(frame[input]);
  return runBlock(op.getBody().front(), std::move(inputs), frame.memory());
}

/// Copies chunk number `chunk` along `dim` between a whole tensor and its slice.
void moveChunk(Tensor &whole, Tensor &part, int64_t dim, int64_t chunk, bool intoWhole) {
  SmallVector<int64_t> strides = stridesOf(whole.shape());
  int64_t offset = chunk * part.dim(dim) * strides[dim];
  forEachIndex(part.shape(), [&](int64_t i, ArrayRef<int64_t> index) {
    int64_t position = offset;
    for (int64_t d = 0; d < part.rank(); ++d)
      position += index[d] * strides[d];
    if (intoWhole)
      whole.copyElement(position, part, i);
    else
      part.copyElement(i, whole, position);
  });
}

constexpr int64_t kCarried = nn::ChunksOp::kCarried;

/// Copies yielded values to the carried inputs of the next iteration, which have the same order.
void carry(nn::ChunksOp op, const Tensors &yielded, Tensors &inputs) {
  auto carriedInput = llvm::find(op.getInputDims(), kCarried);
  for (auto [result, dim] : llvm::enumerate(op.getResultDims())) {
    if (dim != kCarried)
      continue;
    inputs[carriedInput - op.getInputDims().begin()] = yielded[result];
    carriedInput = std::find(carriedInput + 1, op.getInputDims().end(), kCarried);
  }
}

FailureOr<Tensors> chunks(nn::ChunksOp op, Frame &frame) {
  Block &body = op.getBody().front();
  Tensors inputs, results;
  for (Value input : op.getInputs())
    inputs.push_back(frame[input]);
  for (Value output : op.getOutputs())
    results.emplace_back(output);
  for (int64_t chunk = 0; chunk < int64_t(op.getCount()); ++chunk) {
    Tensors arguments;
    for (auto [index, dim] : llvm::enumerate(op.getInputDims())) {
      arguments.push_back(dim >= 0 ? Tensor(body.getArgument(index)) : inputs[index]);
      if (dim >= 0)
        moveChunk(inputs[index], arguments.back(), dim, chunk, /*intoWhole=*/false);
    }
    FailureOr<Tensors> yielded = runBlock(body, std::move(arguments), frame.memory());
    if (failed(yielded))
      return failure();
    carry(op, *yielded, inputs);
    for (auto [index, dim] : llvm::enumerate(op.getResultDims()))
      if (dim >= 0)
        moveChunk(results[index], (*yielded)[index], dim, chunk, /*intoWhole=*/true);
      else
        results[index] = (*yielded)[index];
  }
  return results;
}

Tensor barrier(nn::BarrierOp op, Frame &frame) { return frame[op.getX()]; }

} // namespace

void trainc::reference::registerKernel(Registry &registry) {
  registry.add<nn::KernelOp>(kernel);
  registry.add<nn::ChunksOp>(chunks);
  registry.add<nn::BarrierOp>(barrier);
}

// --- Entries ---

EntryMemory::EntryMemory(ModuleOp module) {
  for (auto state : module.getOps<train::StateOp>())
    states.emplace(state.getSymName().str(), cast<RankedTensorType>(state.getType()));
}

LogicalResult trainc::reference::runEntry(ModuleOp module, EntryKind kind, EntryMemory &memory) {
  if (auto entry = findEntry<train::EntryOp>(module, kind))
    return runBlock(entry.getBody().front(), {}, &memory);
  return module.emitError("has no train.entry of the kind ") << stringifyEntryKind(kind);
}

namespace {

FailureOr<Tensors> getState(train::GetOp op, Frame &frame) {
  auto state = frame.memory()->states.find(op.getState());
  if (state == frame.memory()->states.end())
    return op.emitOpError("reads the undefined state @") << op.getState();
  Tensor piece(op.getResult());
  for (int64_t i = 0; i < piece.elements(); ++i)
    piece.copyElement(i, state->second, int64_t(op.getOffset()) + i);
  return Tensors{std::move(piece)};
}

FailureOr<Tensors> setState(train::SetOp op, Frame &frame) {
  auto state = frame.memory()->states.find(op.getState());
  if (state == frame.memory()->states.end())
    return op.emitOpError("writes the undefined state @") << op.getState();
  const Tensor &piece = frame[op.getValue()];
  for (int64_t i = 0; i < piece.elements(); ++i)
    state->second.copyElement(int64_t(op.getOffset()) + i, piece, i);
  return Tensors{};
}

Tensors markBlockUse(train::BlockUseOp, Frame &) { return {}; }

FailureOr<Tensors> addGradient(train::GradientOp op, Frame &frame) {
  const Tensor &value = frame[op.getValue()];
  auto [sum, isFirst] = frame.memory()->gradients.try_emplace(op.getParameter().str(), value);
  if (!isFirst)
    for (int64_t i = 0; i < value.elements(); ++i)
      sum->second.reals[i] += value.reals[i];
  return Tensors{};
}

FailureOr<Tensors> readInput(train::InputOp op, Frame &frame) {
  bool isMicro = op.getExtent() == BatchExtent::micro;
  NamedTensors &columns = isMicro ? frame.memory()->microColumns : frame.memory()->stepColumns;
  auto column = columns.find(op.getColumn());
  if (column == columns.end())
    return op.emitOpError("was given no column '") << op.getColumn() << "'";
  if (column->second.type() != op.getResult().getType())
    return op.emitOpError("was given a column of type ") << column->second.type();
  for (int64_t value : column->second.integers)
    if (op.getLimit() != 0 && value != int64_t(op.getIgnore()) &&
        (value < 0 || value >= int64_t(op.getLimit())))
      return op.emitOpError("was given the value ") << value << ", not below " << op.getLimit();
  return Tensors{column->second};
}

} // namespace

void trainc::reference::registerEntry(Registry &registry) {
  registry.add<train::GetOp>(getState);
  registry.add<train::SetOp>(setState);
  registry.add<train::BlockUseOp>(markBlockUse);
  registry.add<train::GradientOp>(addGradient);
  registry.add<train::InputOp>(readInput);
}
