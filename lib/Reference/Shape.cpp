// Reductions, broadcasts and changes of shape.
#include "dialects/NN/NN.h"
#include "lib/Reference/Registry.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace trainc;
using namespace trainc::reference;

namespace {

int64_t fromFront(int64_t dim, int64_t rank) { return dim < 0 ? dim + rank : dim; }

template <typename T> T combine(nn::ReduceKind kind, T a, T b) {
  bool isSum = kind == nn::ReduceKind::sum || kind == nn::ReduceKind::mean;
  if (isSum)
    return a + b;
  if (a != a || b != b)
    return std::numeric_limits<T>::quiet_NaN();
  return kind == nn::ReduceKind::max ? std::max(a, b) : std::min(a, b);
}

/// Reduces the elements of each group; `group[i]` is the number of the result that element i belongs to.
template <typename T>
void reduceGroups(nn::ReduceKind kind, const std::vector<T> &x, ArrayRef<int64_t> group,
                  std::vector<T> &result) {
  std::vector<bool> started(result.size(), false);
  for (size_t i = 0; i < x.size(); ++i) {
    T &total = result[group[i]];
    total = started[group[i]] ? combine(kind, total, x[i]) : x[i];
    started[group[i]] = true;
  }
}

Tensor reduce(nn::ReduceOp op, Frame &frame) {
  const Tensor &x = frame[op.getX()];
  SmallVector<int64_t> keptShape(x.shape());
  for (int64_t dim : op.getDims())
    keptShape[fromFront(dim, x.rank())] = 1;
  SmallVector<int64_t> strides = stridesOf(keptShape);
  std::vector<int64_t> group(x.elements());
  forEachIndex(x.shape(), [&](int64_t i, ArrayRef<int64_t> index) {
    for (int64_t dim = 0; dim < x.rank(); ++dim)
      group[i] += keptShape[dim] == 1 ? 0 : index[dim] * strides[dim];
  });
  Tensor result(op.getResult());
  reduceGroups(op.getKind(), x.reals, group, result.reals);
  reduceGroups(op.getKind(), x.integers, group, result.integers);
  int64_t summands = x.elements() / result.elements();
  if (op.getKind() == nn::ReduceKind::mean)
    for (double &number : result.reals)
      number /= double(summands);
  return result;
}

Tensor broadcast(nn::BroadcastOp op, Frame &frame) {
  const Tensor &x = frame[op.getX()];
  Tensor result(op.getResult());
  SmallVector<int64_t> strides = stridesOf(x.shape());
  int64_t added = result.rank() - x.rank();
  forEachIndex(result.shape(), [&](int64_t i, ArrayRef<int64_t> index) {
    int64_t from = 0;
    for (int64_t dim = 0; dim < x.rank(); ++dim)
      from += x.dim(dim) == 1 ? 0 : index[dim + added] * strides[dim];
    result.copyElement(i, x, from);
  });
  return result;
}

Tensor reshape(nn::ReshapeOp op, Frame &frame) {
  return frame[op.getX()].withType(cast<RankedTensorType>(op.getResult().getType()));
}

Tensor transpose(nn::TransposeOp op, Frame &frame) {
  const Tensor &x = frame[op.getX()];
  Tensor result(op.getResult());
  SmallVector<int64_t> strides = stridesOf(x.shape());
  forEachIndex(result.shape(), [&](int64_t i, ArrayRef<int64_t> index) {
    int64_t from = 0;
    for (auto [dim, source] : llvm::enumerate(op.getPermutation()))
      from += index[dim] * strides[source];
    result.copyElement(i, x, from);
  });
  return result;
}

/// Copies `from` into `into`, shifted by `offset` along `dim`; elements outside are dropped.
void copyShifted(const Tensor &from, Tensor &into, int64_t dim, int64_t offset) {
  SmallVector<int64_t> strides = stridesOf(into.shape());
  forEachIndex(from.shape(), [&](int64_t i, ArrayRef<int64_t> index) {
    int64_t along = index[dim] + offset;
    if (along < 0 || along >= into.dim(dim))
      return;
    int64_t position = 0;
    for (int64_t d = 0; d < into.rank(); ++d)
      position += (d == dim ? along : index[d]) * strides[d];
    into.copyElement(position, from, i);
  });
}

Tensor slice(nn::SliceOp op, Frame &frame) {
  const Tensor &x = frame[op.getX()];
  Tensor result(op.getResult());
  int64_t dim = fromFront(op.getDim(), x.rank());
  copyShifted(x, result, dim, -fromFront(op.getOffset(), x.dim(dim)));
  return result;
}

Tensor pad(nn::PadOp op, Frame &frame) {
  const Tensor &x = frame[op.getX()];
  Tensor result(op.getResult());
  copyShifted(x, result, fromFront(op.getDim(), x.rank()), op.getLow());
  return result;
}

Tensor concat(nn::ConcatOp op, Frame &frame) {
  Tensor result(op.getResult());
  int64_t dim = fromFront(op.getDim(), result.rank()), offset = 0;
  for (Value input : op.getInputs()) {
    copyShifted(frame[input], result, dim, offset);
    offset += frame[input].dim(dim);
  }
  return result;
}

Tensors split(nn::SplitOp op, Frame &frame) {
  const Tensor &x = frame[op.getX()];
  int64_t dim = fromFront(op.getDim(), x.rank()), offset = 0;
  Tensors parts;
  for (Value part : op.getParts()) {
    copyShifted(x, parts.emplace_back(part), dim, -offset);
    offset += parts.back().dim(dim);
  }
  return parts;
}

} // namespace

void trainc::reference::registerShape(Registry &registry) {
  registry.add<nn::ReduceOp>(reduce);
  registry.add<nn::BroadcastOp>(broadcast);
  registry.add<nn::ReshapeOp>(reshape);
  registry.add<nn::TransposeOp>(transpose);
  registry.add<nn::SliceOp>(slice);
  registry.add<nn::PadOp>(pad);
  registry.add<nn::ConcatOp>(concat);
  registry.add<nn::SplitOp>(split);
}
