// Pass `shard`.
#include "lib/Shard/Passes.h"

#include "dialects/Train/Sharding.h"
#include "lib/Shard/Collectives.h"
#include "lib/Shard/UpdateSharding.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_SHARD
#include "lib/Shard/Passes.h.inc"

namespace {

struct Shard : impl::ShardBase<Shard> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>())
      if (program.getRanks() > 1 && program.getZeroStage() > 0)
        shardUpdate(program);
    getOperation()->walk([](train::SumOverRanksOp sum) {
      OpBuilder builder(sum);
      sum.getResult().replaceAllUsesWith(
          createAllReduce(builder, sum.getLoc(), sum.getValue(), RankGroup::all, sum.getOfAttr()));
      sum.erase();
    });
  }

private:
  void shardUpdate(train::ProgramOp program) {
    const int64_t shardRanks = train::shardingOf(program).shardRanks;
    UpdateSharding(getOperation(), shardRanks, shardRanks < int64_t(program.getRanks()),
                   program.getZeroStage())
        .run();
  }
};

} // namespace
} // namespace trainc
