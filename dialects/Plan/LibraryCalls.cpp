// Library calls: which bytes they touch, and what they cost.
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/Plan/Plan.h"
#include "runtime/schema/row_padding.h"

using namespace mlir;
using namespace trainc::plan;

/// Of f32, and of the i32 of attention's masks.
static constexpr int64_t kElementBytes = 4;

/// From the first element to the last of matrices that lie in `rows` rows, with the padding of these.
static int64_t matrixBytes(int64_t rows, int64_t columns, int64_t row, int64_t count, int64_t matrix,
                           int64_t element) {
  return ((count - 1) * matrix + (rows - 1) * row) * element +
         int64_t(trainc::paddedRowBytes(columns * element, row * element));
}

static int64_t bytesOf(std::optional<Type> element) {
  return element ? int64_t(element->getIntOrFloatBitWidth()) / 8 : kElementBytes;
}

static void addUse(SmallVectorImpl<OperandUse> &uses, std::optional<OperandAttr> operand, int64_t bytes,
                   bool reads, bool writes, bool isWorkspace = false) {
  if (operand)
    uses.push_back({*operand, bytes, reads, writes, isWorkspace});
}

SmallVector<OperandUse> MatrixProductOp::getOperandUses() {
  const int64_t m = getM(), n = getN(), k = getK(), batch = getBatch();
  const int64_t ofA = bytesOf(getFactors()), other = bytesOf(getProduct());
  const int64_t ofB = getFactorsB() ? bytesOf(getFactorsB()) : ofA;
  const int64_t result = matrixBytes(m, n, getRowResult(), batch, getMatrixResult(), other);
  const bool readsAuxiliary = isGradient(getActivation());
  SmallVector<OperandUse> uses;
  addUse(uses, getA(),
         matrixBytes(getTransposeA() ? k : m, getTransposeA() ? m : k, getRowA(), batch, getMatrixA(), ofA),
         true, false);
  addUse(uses, getB(),
         matrixBytes(getTransposeB() ? n : k, getTransposeB() ? k : n, getRowB(), batch, getMatrixB(), ofB),
         true, false);
  addUse(uses, getResult(), result, getAdds(), true);
  addUse(uses, getBias(), n * other, true, false);
  addUse(uses, getAuxiliary(), result, readsAuxiliary, !readsAuxiliary);
  addUse(uses, getSide(), (getSideSum() == SideSum::a ? m : n) * other, false, true);
  addUse(uses, getAScale(), kElementBytes, true, false);
  addUse(uses, getBScale(), kElementBytes, true, false);
  addUse(uses, getWorkspace(), getWorkspaceBytes(), false, true, /*isWorkspace=*/true);
  return uses;
}

double MatrixProductOp::getFlops() { return 2.0 * getBatch() * getM() * getN() * getK(); }

SmallVector<OperandUse> AttentionOp::getOperandUses() {
  const bool backward = getPass() == AttentionPass::backward;
  const int64_t queries = getBatch() * getQueries(), keys = getBatch() * getKeys();
  const int64_t element = bytesOf(getValues());
  const int64_t query = queries * getHeads() * getHeadSize() * element,
                key = keys * getKeyHeads() * getHeadSize() * element,
                value = keys * getKeyHeads() * getValueSize() * element,
                out = queries * getHeads() * getValueSize() * element;
  SmallVector<OperandUse> uses;
  addUse(uses, getQuery(), query, true, false);
  addUse(uses, getKey(), key, true, false);
  addUse(uses, getValue(), value, true, false);
  addUse(uses, getOut(), out, backward, !backward);
  addUse(uses, getLogSumExp(), queries * getHeads() * kElementBytes, backward, !backward);
  addUse(uses, getSegments(), queries * kElementBytes, true, false);
  addUse(uses, getLimit(), kElementBytes, true, false);
  addUse(uses, getOutGradient(), out, true, false);
  addUse(uses, getQueryGradient(), query, false, true);
  addUse(uses, getKeyGradient(), key, false, true);
  addUse(uses, getValueGradient(), value, false, true);
  addUse(uses, getWorkspace(), getWorkspaceBytes(), false, true, /*isWorkspace=*/true);
  return uses;
}

/// A causal query sees half of the keys. Backward makes the scores and two gradients from heads of q and k,
/// and two from those of v.
double AttentionOp::getFlops() {
  const double queries = getQueries(), keys = getKeys();
  const double pairs = getCausal() && keys >= queries
                           ? queries * (keys - queries) + queries * (queries + 1) / 2
                           : queries * keys;
  const bool backward = getPass() == AttentionPass::backward;
  return 2.0 * getBatch() * getHeads() * pairs *
         ((backward ? 3 : 1) * double(getHeadSize()) + (backward ? 2 : 1) * double(getValueSize()));
}
