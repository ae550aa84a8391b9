#include "lib/Shard/Collectives.h"

#include "dialects/Dist/Dist.h"

using namespace mlir;
using namespace trainc;

Value trainc::createAllReduce(OpBuilder &builder, Location loc, Value value) {
  OpBuilder early(builder);
  early.setInsertionPointAfterValue(value);
  Value pending = dist::AllReduceStartOp::create(early, loc, value);
  return dist::WaitOp::create(builder, loc, pending);
}

Value trainc::createAllGather(OpBuilder &builder, Location loc, Type whole, Value part) {
  OpBuilder early(builder);
  early.setInsertionPointAfterValue(part);
  Value pending = dist::AllGatherStartOp::create(early, loc, whole, part);
  return dist::WaitOp::create(builder, loc, pending);
}
