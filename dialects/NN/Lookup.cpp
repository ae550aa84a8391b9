// What the operands of lookups may hold. (CrossEntropy.cpp has that of labels.)
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

std::optional<IndexLimit> GatherOp::getIndexLimit(unsigned operand) {
  if (operand != getIdsMutable().getOperandNumber())
    return std::nullopt;
  return IndexLimit{shapeOf(getTable()).front()};
}
