#include "lib/Pipelines/Sharding.h"

using namespace mlir;

namespace trainc {

LogicalResult applySharding(train::ProgramOp program, const ShardingOptions &options) {
  Builder builder(program.getContext());
  auto given = program.getShardingAttr();
  StringAttr wrap = given ? given.getWrap() : nullptr, sync = given ? given.getSync() : nullptr,
             reproducible = given ? given.getReproducible() : nullptr;
  BoolAttr reshard = given ? given.getReshardAfterForward() : nullptr;
  IntegerAttr prefetch = given ? given.getPrefetch() : nullptr,
              persistBelow = given ? given.getPersistBelow() : nullptr,
              hybridShard = given ? given.getHybridShard() : nullptr;
  if (options.wrap)
    wrap = builder.getStringAttr(*options.wrap);
  if (options.sync)
    sync = builder.getStringAttr(*options.sync);
  if (options.reproducible)
    reproducible = builder.getStringAttr(*options.reproducible);
  if (options.reshardAfterForward)
    reshard = builder.getBoolAttr(*options.reshardAfterForward);
  if (options.prefetch)
    prefetch = builder.getI64IntegerAttr(*options.prefetch);
  if (options.persistBelow)
    persistBelow = builder.getI64IntegerAttr(*options.persistBelow);
  if (options.hybridShard)
    hybridShard = builder.getI64IntegerAttr(*options.hybridShard);
  if (!wrap && !sync && !reshard && !prefetch && !persistBelow && !hybridShard && !reproducible)
    return success();
  auto sharding =
      train::ShardingAttr::getChecked([&] { return program.emitError("sharding: "); }, program.getContext(),
                                      wrap, reshard, prefetch, persistBelow, hybridShard, sync, reproducible);
  program.setShardingAttr(sharding);
  return success(bool(sharding));
}

} // namespace trainc
