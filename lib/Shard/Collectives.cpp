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
