#include "lib/Shard/Collectives.h"

using namespace mlir;
using namespace trainc;

Value trainc::createAllReduce(OpBuilder &builder, Location loc, Value value, RankGroup group,
                              FlatSymbolRefAttr of) {
  OpBuilder early(builder);
  early.setInsertionPointAfterValue(value);
  Value pending = dist::AllReduceStartOp::create(early, loc, value, group, of, IntegerAttr());
  return dist::WaitOp::create(builder, loc, pending);
}

Value trainc::createAllGather(OpBuilder &builder, Location loc, Type whole, Value part) {
  OpBuilder early(builder);
  early.setInsertionPointAfterValue(part);
  Value pending = dist::AllGatherStartOp::create(early, loc, whole, part, RankGroup::shard, IntegerAttr());
  return dist::WaitOp::create(builder, loc, pending);
}
