// Pass `shard`.
#include "lib/Shard/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Train/Train.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_SHARD
#include "lib/Shard/Passes.h.inc"

namespace {

struct Shard : impl::ShardBase<Shard> {
  void runOnOperation() override {
    getOperation()->walk([](train::SumOverRanksOp sum) { replaceByCollective(sum); });
  }

private:
  /// The collective starts right after its operand, in the operand's block.
  static void replaceByCollective(train::SumOverRanksOp sum) {
    OpBuilder builder(sum);
    if (Operation *definition = sum.getValue().getDefiningOp())
      builder.setInsertionPointAfter(definition);
    else
      builder.setInsertionPointToStart(sum.getValue().getParentBlock());
    Value pending = dist::AllReduceStartOp::create(builder, sum.getLoc(), sum.getValue());
    builder.setInsertionPoint(sum);
    sum.getResult().replaceAllUsesWith(dist::WaitOp::create(builder, sum.getLoc(), pending));
    sum.erase();
  }
};

} // namespace
} // namespace trainc
