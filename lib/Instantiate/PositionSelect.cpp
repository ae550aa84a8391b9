#include "lib/Instantiate/PositionSelect.h"

#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;

static bool mixesPositions(Operation *op) {
  if (isa<IncrementalOpInterface>(op))
    return true;
  FlatSymbolRefAttr name;
  if (auto apply = dyn_cast<nn::ApplyOp>(op))
    name = apply.getBlockAttr();
  else if (auto repeat = dyn_cast<nn::RepeatOp>(op))
    name = repeat.getBlockAttr();
  else
    return false;
  auto block = SymbolTable::lookupNearestSymbolFrom<nn::BlockOp>(op, name);
  return llvm::any_of(block.getBody().front(), [](Operation &inner) { return mixesPositions(&inner); });
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

void trainc::selectAfter(Operation *last, IRMapping &values, OpBuilder &builder, int64_t length,
                         Value position) {
  // A copy, as the mapping changes on the way.
  SmallVector<std::pair<Value, Value>> known(values.getValueMap().begin(), values.getValueMap().end());
  for (auto [deferred, value] : known) {
    bool usedLater =
        llvm::any_of(deferred.getUsers(), [&](Operation *user) { return last->isBeforeInBlock(user); });
    ArrayRef<int64_t> shape = nn::shapeOf(value);
    bool hasPositions = shape.size() >= 2 && shape[0] == 1 && shape[1] == length && length > 1;
    if (usedLater && hasPositions && !value.getDefiningOp<train::GetOp>())
      values.map(deferred, selectPosition(builder, value, position));
  }
}
