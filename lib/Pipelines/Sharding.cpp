#include "lib/Pipelines/Sharding.h"

#include "dialects/Train/Sharding.h"

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

void warnOfIdleOptions(train::ProgramOp program, const CompileOptions &given) {
  if (given.ranks.value_or(int64_t(program.getRanks())) > 1)
    return;
  const ShardingOptions &sharding = given.sharding;
  // What is the same on all ranks sums by units, of however many there are.
  const bool usesUnits = train::shardingOf(program).reproducibleOverRanks;
  const std::pair<bool, const char *> options[] = {
      {given.zeroStage.value_or(0) > 0, "--zero-stage"},
      {sharding.wrap && !usesUnits, "--wrap"},
      {sharding.reshardAfterForward.has_value(), "--reshard-after-forward"},
      {sharding.maxReuseDistance.has_value(), "--max-reuse-distance"},
      {sharding.prefetch.has_value(), "--prefetch"},
      {sharding.maxLive.has_value(), "--max-live-parameters"},
      {sharding.gathersInFlight.has_value(), "--limit-all-gathers"},
      {sharding.persistBelow.has_value(), "--param-persistence-threshold"},
      {sharding.reduceBucket.has_value(), "--reduce-bucket-size"},
      {sharding.gatherBucket.has_value(), "--allgather-bucket-size"},
      {sharding.hybridShard.has_value(), "--hybrid-shard"},
      {sharding.sync.has_value(), "--sync-gradients"}};
  for (auto [isGiven, option] : options)
    if (isGiven)
      program.emitWarning() << option << " does nothing on one rank; give --ranks=N as well, or leave it out";
}

} // namespace trainc
