// Matrix products and lookups.
#include "dialects/NN/NN.h"
#include "lib/Reference/Gelu.h"
#include "lib/Reference/Registry.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::reference;

namespace {

/// One matrix of a batch, possibly read transposed.
struct Matrix {
  const double *data;
  int64_t rows, columns; ///< of the matrix as read
  bool transposed;

  double operator()(int64_t row, int64_t column) const {
    return transposed ? data[column * rows + row] : data[row * columns + column];
  }
};

/// Returns matrix number `batch` of the last two dimensions; a tensor of rank 2 has one matrix for all.
Matrix matrixOf(const Tensor &tensor, int64_t batch, bool transposed) {
  int64_t rows = tensor.dim(-2), columns = tensor.dim(-1);
  const double *data = tensor.reals.data() + (tensor.rank() == 2 ? 0 : batch * rows * columns);
  if (transposed)
    std::swap(rows, columns);
  return {data, rows, columns, transposed};
}

void addProduct(const Matrix &lhs, const Matrix &rhs, double *result) {
  for (int64_t row = 0; row < lhs.rows; ++row)
    for (int64_t column = 0; column < rhs.columns; ++column)
      for (int64_t k = 0; k < lhs.columns; ++k)
        result[row * rhs.columns + column] += lhs(row, k) * rhs(k, column);
}

/// Multiplies for nn.matmul, or for nn.product without its epilogue; sums are multiplied by `scale`.
template <typename Op> Tensor multiply(Op op, Frame &frame, double scale = 1) {
  const Tensor &lhs = frame[op.getLhs()], &rhs = frame[op.getRhs()];
  Tensor result(op->getResult(0));
  int64_t batches = lhs.elements() / (lhs.dim(-1) * lhs.dim(-2));
  int64_t resultStride = op.getReduceBatch() ? 0 : result.dim(-1) * result.dim(-2);
  for (int64_t batch = 0; batch < batches; ++batch)
    addProduct(matrixOf(lhs, batch, op.getTransposeLhs()), matrixOf(rhs, batch, op.getTransposeRhs()),
               result.reals.data() + batch * resultStride);
  for (int64_t i = 0; i < result.elements(); ++i)
    result.reals[i] = result.reals[i] * scale + (op.getAccumulate() ? frame[op.getAccumulate()].reals[i] : 0);
  return result;
}

Tensor matmul(nn::MatmulOp op, Frame &frame) {
  const bool isScaled = bool(op.getLhsScale());
  return multiply(op, frame,
                  isScaled ? frame[op.getLhsScale()].reals[0] * frame[op.getRhsScale()].reals[0] : 1);
}

/// `at` is the element of the auxiliary tensor, for gradients.
double activate(Activation activation, double x, double at) {
  switch (activation) {
  case Activation::none:
    return x;
  case Activation::gelu:
    return gelu(x);
  case Activation::gelu_tanh:
    return geluTanh(x);
  case Activation::gelu_gradient:
    return x * geluSlope(at);
  case Activation::gelu_tanh_gradient:
    return x * geluTanhSlope(at);
  }
  llvm_unreachable("an activation of products");
}

/// Sums the columns of a tensor over the rows of all its matrices.
void sumColumns(const Tensor &tensor, Tensor &sums) {
  for (int64_t i = 0; i < tensor.elements(); ++i)
    sums.reals[i % sums.elements()] += tensor.reals[i];
}

/// Sums a factor, as stored, over the dimension that the product sums over.
void sumFactor(const Tensor &factor, bool overRows, Tensor &sums) {
  if (overRows)
    return sumColumns(factor, sums);
  for (int64_t i = 0; i < factor.elements(); ++i)
    sums.reals[i / factor.dim(-1)] += factor.reals[i];
}

Tensor sideSums(nn::ProductOp op, Frame &frame, const Tensor &result) {
  Tensor sums(op->getResults().back());
  if (op.getSideSum() == SideSum::result)
    sumColumns(result, sums);
  else if (op.getSideSum() == SideSum::a)
    sumFactor(frame[op.getLhs()], op.getTransposeLhs(), sums);
  else
    sumFactor(frame[op.getRhs()], !op.getTransposeRhs(), sums);
  return sums;
}

FailureOr<Tensors> product(nn::ProductOp op, Frame &frame) {
  Tensor before = multiply(op, frame);
  if (Value bias = op.getBias())
    for (int64_t i = 0; i < before.elements(); ++i)
      before.reals[i] += frame[bias].reals[i % before.dim(-1)];
  Tensor result = before;
  const Tensor &at = op.getAuxiliary() ? frame[op.getAuxiliary()] : before;
  for (int64_t i = 0; i < result.elements(); ++i)
    result.reals[i] = activate(op.getActivation(), before.reals[i], at.reals[i]);
  Tensors results{result};
  if (op.getBefore())
    results.push_back(before);
  if (op.getSideSum() != SideSum::none)
    results.push_back(sideSums(op, frame, result));
  return results;
}

bool isRowOf(const Tensor &table, int64_t id) { return id >= 0 && id < table.dim(0); }

Tensor gather(nn::GatherOp op, Frame &frame) {
  const Tensor &table = frame[op.getTable()], &ids = frame[op.getIds()];
  Tensor result(op.getResult());
  int64_t width = table.elements() / table.dim(0);
  for (int64_t i = 0; i < ids.elements(); ++i)
    if (isRowOf(table, ids.integers[i]))
      for (int64_t column = 0; column < width; ++column)
        result.copyElement(i * width + column, table, ids.integers[i] * width + column);
  return result;
}

Tensor scatter(nn::ScatterOp op, Frame &frame) {
  const Tensor &ids = frame[op.getIds()], &updates = frame[op.getUpdates()];
  Tensor result = frame[op.getTable()];
  const int64_t width = result.elements() / result.dim(0);
  for (int64_t i = 0; i < ids.elements(); ++i)
    if (isRowOf(result, ids.integers[i]))
      for (int64_t column = 0; column < width; ++column)
        result.copyElement(ids.integers[i] * width + column, updates, i * width + column);
  return result;
}

Tensor scatterAdd(nn::ScatterAddOp op, Frame &frame) {
  const Tensor &ids = frame[op.getIds()], &updates = frame[op.getUpdates()];
  Tensor result = frame[op.getTable()];
  int64_t width = result.elements() / result.dim(0);
  for (int64_t i = 0; i < ids.elements(); ++i)
    if (isRowOf(result, ids.integers[i]))
      for (int64_t column = 0; column < width; ++column)
        result.reals[ids.integers[i] * width + column] += updates.reals[i * width + column];
  return result;
}

} // namespace

void trainc::reference::registerLinear(Registry &registry) {
  registry.add<nn::MatmulOp>(matmul);
  registry.add<nn::ProductOp>(product);
  registry.add<nn::GatherOp>(gather);
  registry.add<nn::ScatterOp>(scatter);
  registry.add<nn::ScatterAddOp>(scatterAdd);
}
