#include "lib/Pipelines/Sharding.h"

using namespace mlir;

namespace trainc {

LogicalResult applySharding(train::ProgramOp program, const ShardingOptions &options) {
  Builder builder(program.getContext());
  NamedAttrList words;
  if (train::ShardingAttr given = program.getShardingAttr())
    words.append(given.getWords());
  auto setNumber = [&](StringRef word, std::optional<int64_t> value) {
    if (value)
      words.set(word, builder.getI64IntegerAttr(*value));
  };
  if (options.wrap)
    words.set("wrap", builder.getStringAttr(*options.wrap));
  if (options.sync)
    words.set("sync", builder.getStringAttr(*options.sync));
  if (options.reproducible)
    words.set("reproducible", builder.getStringAttr(*options.reproducible));
  if (options.reshardAfterForward)
    words.set("reshard_after_forward", builder.getBoolAttr(*options.reshardAfterForward));
  setNumber("hybrid_shard", options.hybridShard);
  setNumber("reduce_bucket", options.reduceBucket);
  setNumber("gather_bucket", options.gatherBucket);
  setNumber("persist_below", options.persistBelow);
  setNumber("max_reuse_distance", options.maxReuseDistance);
  setNumber("prefetch", options.prefetch);
  setNumber("max_live", options.maxLive);
  setNumber("gathers_in_flight", options.gathersInFlight);
  if (words.empty())
    return success();
  auto sharding =
      train::ShardingAttr::getChecked([&] { return program.emitError("sharding: "); }, program.getContext(),
                                      words.getDictionary(program.getContext()));
  program.setShardingAttr(sharding);
  return success(bool(sharding));
}

} // namespace trainc
