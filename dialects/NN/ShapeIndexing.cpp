// How dimensions correspond in ops that reduce, repeat or move elements.
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Labels = SmallVector<int>;

static Labels labelsOf(Value value) { return llvm::to_vector(llvm::seq<int>(0, shapeOf(value).size())); }

/// Sums may be split, as partial sums; other reductions keep their dimensions whole.
IndexingRule ReduceOp::getIndexingRule() {
  Labels operand = labelsOf(getX()), result;
  SmallVector<bool> reduced(operand.size(), false);
  for (int64_t dim : getDims())
    reduced[normalizeDim(dim, operand.size())] = true;
  for (auto [dim, label] : llvm::enumerate(operand)) {
    if (!reduced[dim]) {
      result.push_back(label);
      continue;
    }
    if (getKeep())
      result.push_back(-1);
    if (getKind() != ReduceKind::sum)
      label = -1;
  }
  return {{operand}, {result}};
}

IndexingRule BroadcastOp::getIndexingRule() {
  ArrayRef<int64_t> from = shapeOf(getX()), to = shapeOf(getResult());
  Labels result = labelsOf(getResult()), operand;
  for (size_t dim = 0; dim < from.size(); ++dim) {
    size_t aligned = to.size() - from.size() + dim;
    operand.push_back(from[dim] == to[aligned] ? result[aligned] : -1);
  }
  return {{operand}, {result}};
}

/// Dimensions form groups of equal products, from the front. The first dimensions of a group correspond:
/// equal slices of one are equal slices of the other, where the number of slices divides both. Dimensions of
/// size 1 belong to no group.
IndexingRule ReshapeOp::getIndexingRule() {
  ArrayRef<int64_t> from = shapeOf(getX()), to = shapeOf(getResult());
  Labels operand(from.size(), -1), result(to.size(), -1);
  size_t i = 0, j = 0;
  auto skipOnes = [](ArrayRef<int64_t> shape, size_t &dim) {
    while (dim < shape.size() && shape[dim] == 1)
      ++dim;
  };
  for (int label = 0;; ++label) {
    skipOnes(from, i);
    skipOnes(to, j);
    if (i == from.size() || j == to.size())
      break;
    operand[i] = result[j] = label;
    int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right)
        left *= from[i++];
      else
        right *= to[j++];
    }
  }
  return {{operand}, {result}};
}

IndexingRule TransposeOp::getIndexingRule() {
  Labels operand = labelsOf(getX());
  return {{operand}, {llvm::map_to_vector(getPermutation(), [&](int64_t dim) { return operand[dim]; })}};
}

/// All dimensions correspond but `dim`.
static Labels allBut(Value value, int64_t dim) {
  Labels labels = labelsOf(value);
  labels[normalizeDim(dim, labels.size())] = -1;
  return labels;
}

IndexingRule SliceOp::getIndexingRule() { return {{allBut(getX(), getDim())}, {allBut(getX(), getDim())}}; }
IndexingRule PadOp::getIndexingRule() { return {{allBut(getX(), getDim())}, {allBut(getX(), getDim())}}; }

IndexingRule SplitOp::getIndexingRule() {
  Labels labels = allBut(getX(), getDim());
  return {{labels}, SmallVector<Labels>(getNumResults(), labels)};
}

IndexingRule ConcatOp::getIndexingRule() {
  Labels labels = allBut(getResult(), getDim());
  return {SmallVector<Labels>(getInputs().size(), labels), {labels}};
}
