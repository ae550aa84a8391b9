#include "lib/Instantiate/PositionSelect.h"

#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;

static bool mixesPositions(Operation *op) {
  if (isa<IncrementalOpInterface>(op))
    return true;
  auto user = dyn_cast<BlockUserOpInterface>(op);
  return user && llvm::any_of(user.getUsedBlocks(), [&](FlatSymbolRefAttr name) {
           auto block = SymbolTable::lookupNearestSymbolFrom<nn::BlockOp>(op, name);
           return llvm::any_of(block.getBody().front(),
                               [](Operation &inner) { return mixesPositions(&inner); });
         });
}

Operation *trainc::findLastMixingOp(nn::ModelOp model) {
  Operation *last = nullptr;
  for (Operation &op : model.getBody().front())
    if (mixesPositions(&op))
      last = &op;
  return last;
}

Value trainc::selectPosition(OpBuilder &builder, Value x, Value position) {
  nn::TensorBuilder b(builder, x.getLoc());
  ArrayRef<int64_t> shape = nn::shapeOf(x);
  SmallVector<int64_t> selected(shape);
  selected[1] = 1;
  int64_t width = ShapedType::getNumElements(shape.drop_front(2));
  Value rows = b.reshape(x, {shape[1], width});
  return b.reshape(b.create<nn::GatherOp>(rows, b.reshape(position, {1})), selected);
}

/// Returns the values, defined up to `last`, that later ops of the body use, in program order.
static SmallVector<Value> valuesUsedAfter(Operation *last) {
  SmallVector<Value> values(last->getBlock()->getArguments());
  for (Operation &op : llvm::make_range(last->getBlock()->begin(), std::next(last->getIterator())))
    llvm::append_range(values, op.getResults());
  llvm::erase_if(values, [&](Value value) {
    return llvm::none_of(value.getUsers(), [&](Operation *user) { return last->isBeforeInBlock(user); });
  });
  return values;
}

void trainc::selectAfter(Operation *last, IRMapping &values, OpBuilder &builder, const PositionDims &dims,
                         int64_t length, Value position) {
  SmallVector<Value> rows;
  for (Value value : valuesUsedAfter(last)) {
    ArrayRef<size_t> positions = dims.find(value)->second;
    if (positions.empty())
      continue;
    ArrayRef<int64_t> shape = nn::shapeOf(values.lookup(value));
    if (positions != ArrayRef<size_t>{1} || shape[0] != 1 || shape[1] != length)
      return;
    rows.push_back(value);
  }
  for (Value value : rows)
    values.map(value, selectPosition(builder, values.lookup(value), position));
}
