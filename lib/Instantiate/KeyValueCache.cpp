#include "lib/Instantiate/KeyValueCache.h"

#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;

/// The cache with its row at `position` replaced by `row` [1, 1, width].
static Value replaceRow(OpBuilder &builder, Value cache, Value row, Value position) {
  nn::TensorBuilder b(builder, row.getLoc());
  auto places = RankedTensorType::get(nn::shapeOf(cache), builder.getI32Type());
  Value isHere =
      b.compare(nn::Predicate::eq, b.create<nn::IotaOp>(1, places), b.broadcastTo(position, places));
  return b.select(isHere, b.broadcastTo(row, nn::shapeOf(cache)), cache);
}

Value KeyValueCache::append(OpBuilder &builder, Value rows) {
  SmallVector<int64_t> shape(nn::shapeOf(rows));
  bool fillsAll = shape[1] == size;
  shape[1] = size;
  auto type = nn::typeLike(rows, shape);
  std::string name = "cache." + std::to_string(appended++);
  train::StateOp state = states.lookup(name);
  if (!state)
    state = states.declare(rows.getLoc(), name, train::StateRole::cache, type);
  Value cache = fillsAll ? rows : replaceRow(builder, getState(builder, rows.getLoc(), state), rows, first);
  setState(builder, rows.getLoc(), state, cache);
  return cache;
}
