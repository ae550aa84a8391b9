// Pass `schedule-collectives`.
#include "lib/Schedule/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Train/Sharding.h"
#include "lib/Schedule/CollectiveOrder.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_SCHEDULECOLLECTIVES
#include "lib/Schedule/Passes.h.inc"

namespace {

struct ScheduleCollectives : impl::ScheduleCollectivesBase<ScheduleCollectives> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>())
      for (auto entry : getOperation().getOps<train::EntryOp>())
        CollectiveOrder(entry, train::shardingOf(program).prefetch).run();
  }
};

} // namespace
} // namespace trainc
