// The word `sharding` of train.program.
#include "dialects/Train/Sharding.h"

#include "dialects/Train/Limits.h"
#include "dialects/Train/TrainSyntax.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

ParseResult trainc::train::parseSharding(AsmParser &parser, ShardingAttr &sharding) {
  sharding = dyn_cast_or_null<ShardingAttr>(ShardingAttr::parse(parser, Type()));
  return success(bool(sharding));
}

/// Whether the word is given, and `value`.
static bool says(StringAttr word, StringRef value) { return word && word.getValue() == value; }

LogicalResult ShardingAttr::verify(llvm::function_ref<InFlightDiagnostic()> error, StringAttr wrap, BoolAttr,
                                   IntegerAttr prefetch, IntegerAttr persistBelow, IntegerAttr hybridShard,
                                   StringAttr sync, StringAttr reproducible) {
  if (wrap && wrap.empty())
    return error() << "wrap: expected blocks, model, a block's name or a number of parameters, found nothing";
  if (prefetch && (prefetch.getInt() < 0 || prefetch.getInt() > kMaxPrefetch))
    return error() << "prefetch must lie between 0 and " << kMaxPrefetch << ", found " << prefetch.getInt();
  if (persistBelow && persistBelow.getInt() < 0)
    return error() << "persist_below must not be negative, found " << persistBelow.getInt();
  if (hybridShard && hybridShard.getInt() < 2)
    return error() << "hybrid_shard divides states among 2 ranks or more, found " << hybridShard.getInt()
                   << "; zero_stage 0 keeps them whole";
  if (sync && sync != "micro_step" && sync != "step")
    return error() << "sync: expected \"micro_step\" or \"step\", found " << sync;
  if (reproducible && reproducible != "plan" && reproducible != "ranks")
    return error() << "reproducible: expected \"plan\" or \"ranks\", found " << reproducible;
  if (says(sync, "micro_step") && says(reproducible, "ranks"))
    return error() << "reproducible = \"ranks\" sums gradients over ranks once a step, but sync is "
                      "\"micro_step\"; leave sync out, or make it \"step\"";
  return success();
}

ShardingSettings trainc::train::shardingOf(ProgramOp program) {
  ShardingSettings settings;
  ShardingAttr given = program.getShardingAttr();
  settings.reproducibleOverRanks = given && says(given.getReproducible(), "ranks");
  settings.syncEveryMicroStep = program.getZeroStage() > 1 && !settings.reproducibleOverRanks;
  settings.shardRanks = int64_t(program.getRanks());
  if (!given)
    return settings;
  if (StringAttr wrap = given.getWrap())
    settings.wrap = wrap.getValue();
  if (BoolAttr reshard = given.getReshardAfterForward())
    settings.reshardAfterForward = reshard.getValue();
  if (IntegerAttr prefetch = given.getPrefetch())
    settings.prefetch = prefetch.getInt();
  if (IntegerAttr persistBelow = given.getPersistBelow())
    settings.persistBelow = persistBelow.getInt();
  if (IntegerAttr hybridShard = given.getHybridShard(); hybridShard && program.getRanks() > 1)
    settings.shardRanks = hybridShard.getInt();
  if (StringAttr sync = given.getSync())
    settings.syncEveryMicroStep = program.getRanks() > 1 && sync == "micro_step";
  return settings;
}

bool trainc::train::hasFlatStates(ProgramOp program) {
  return program.getRanks() > 1 || shardingOf(program).reproducibleOverRanks;
}
