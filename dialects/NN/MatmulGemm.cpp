// nn.matmul as one (batched) product: leading dimensions are folded into m (or k) where the layout allows,
// else they are a batch.
#include "dialects/NN/NN.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

GemmShape MatmulOp::getGemmShape() {
  auto lhs = cast<RankedTensorType>(getLhs().getType()), rhs = cast<RankedTensorType>(getRhs().getType());
  ArrayRef<int64_t> lhsRow = lhs.getShape().take_back(2), rhsRow = rhs.getShape().take_back(2);
  bool transposeA = getTransposeLhs(), transposeB = getTransposeRhs();
  GemmShape gemm;
  gemm.transposeA = transposeA;
  gemm.transposeB = transposeB;
  gemm.accumulate = bool(getAccumulate());
  gemm.m = lhsRow[transposeA ? 1 : 0];
  gemm.k = lhsRow[transposeA ? 0 : 1];
  gemm.n = rhsRow[transposeB ? 0 : 1];
  gemm.batch = ShapedType::getNumElements(lhs.getShape().drop_back(2));
  gemm.lda = lhsRow[1];
  gemm.ldb = rhsRow[1];
  gemm.ldc = gemm.n;
  bool sharedRhs = rhs.getRank() == 2;
  if (getReduceBatch() && transposeA && !transposeB) {
    gemm.k *= gemm.batch; // [b, t, k]^T [b, t, n]: the rows of all matrices lie one below the other
    gemm.batch = 1;
  } else if (sharedRhs && !transposeA && !getReduceBatch()) {
    gemm.m *= gemm.batch;
    gemm.batch = 1;
  }
  gemm.strideA = gemm.batch == 1 ? 0 : lhsRow[0] * lhsRow[1];
  gemm.strideB = gemm.batch == 1 || sharedRhs ? 0 : rhsRow[0] * rhsRow[1];
  gemm.strideC = gemm.batch == 1 || getReduceBatch() ? 0 : gemm.m * gemm.n;
  return gemm;
}
