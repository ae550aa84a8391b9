// Pass `schedule-collectives`.
#include "lib/Schedule/Passes.h"

#include "dialects/Dist/Dist.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Schedule/ListScheduler.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_SCHEDULECOLLECTIVES
#include "lib/Schedule/Passes.h.inc"

namespace {

struct ScheduleCollectives : impl::ScheduleCollectivesBase<ScheduleCollectives> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>()) {
      const train::ShardingSettings settings = train::shardingOf(program);
      for (auto entry : getOperation().getOps<train::EntryOp>()) {
        const StateOrder order(entry.getBody().front());
        ListScheduler(entry.getBody().front(), settings, int64_t(program.getRanks()), Machine::reference())
            .run();
        if (failed(order.requireKept()))
          signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace trainc
