#include "lib/Codegen/AttentionSizes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static int64_t dimOf(Value value, unsigned dim) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dim);
}

AttentionSizes::AttentionSizes(Value q, Value k, Value v, int64_t heads, int64_t keyHeads,
                               std::optional<APFloat> softcap)
    : element(getElementTypeOrSelf(q)), batch(dimOf(q, 0)), queries(dimOf(q, 1)), keys(dimOf(k, 1)),
      heads(heads), keyHeads(keyHeads), depth(dimOf(q, 2) / heads), valueWidth(dimOf(v, 2) / keyHeads) {
  if (softcap)
    this->softcap = softcap->convertToDouble();
}

AttentionSizes::AttentionSizes(nn::AttentionOp op)
    : AttentionSizes(op.getQ(), op.getK(), op.getV(), int64_t(op.getHeads()), op.keyHeads(),
                     op.getSoftcap()) {}
AttentionSizes::AttentionSizes(nn::AttentionGradOp op)
    : AttentionSizes(op.getQ(), op.getK(), op.getV(), int64_t(op.getHeads()), int64_t(op.getKvHeads()),
                     op.getSoftcap()) {}
