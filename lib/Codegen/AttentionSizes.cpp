#include "lib/Codegen/AttentionSizes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static int64_t dimOf(Value value, unsigned dim) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dim);
}

AttentionSizes::AttentionSizes(Value q, Value k, Value v, int64_t heads, int64_t keyHeads)
    : element(getElementTypeOrSelf(q)), batch(dimOf(q, 0)), queries(dimOf(q, 1)), keys(dimOf(k, 1)),
      heads(heads), keyHeads(keyHeads), depth(dimOf(q, 2) / heads), valueWidth(dimOf(v, 2) / keyHeads) {}

template <typename Op> void AttentionSizes::takeForms(Op op) {
  const auto number = [](const std::optional<APFloat> &value) {
    return value ? std::optional(value->convertToDouble()) : std::nullopt;
  };
  softcap = number(op.getSoftcap());
  alibi = number(op.getAlibi());
  dropout = number(op.getDropout());
  if (Value bias = op.getBias())
    biasWidth = dimOf(bias, 1);
}

AttentionSizes::AttentionSizes(nn::AttentionOp op)
    : AttentionSizes(op.getQ(), op.getK(), op.getV(), int64_t(op.getHeads()), op.keyHeads()) {
  takeForms(op);
}
AttentionSizes::AttentionSizes(nn::AttentionGradOp op)
    : AttentionSizes(op.getQ(), op.getK(), op.getV(), int64_t(op.getHeads()), int64_t(op.getKvHeads())) {
  takeForms(op);
}
