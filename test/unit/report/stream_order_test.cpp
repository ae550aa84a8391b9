// Ordering between streams: instructions known to be done, and concurrent instructions.
#include "test/unit/report/verified_plan.h"
#include "tools/report/proofs.h"
#include "tools/report/stream_order.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

// spacesPlan(): 0 on compute; 1 copies out after 0; 2 to disk after 0; 3 computes after 1 and 2; 4 copies in
// after 1; 5 from disk, after 2 on its stream; 6 computes after 4 and 5.
TEST(StreamOrder, FollowsWhatComesAfterWhat) {
  const VerifiedPlan verified(spacesPlan());
  const report::StreamOrder order = report::orderOf(*verified.plan().entries()->Get(0));
  EXPECT_THAT(order.joined, testing::ElementsAre(7, 3, 3, 7, 6, 6, 7));
  EXPECT_EQ(order.waits, 7);
  // 1 and 2, 3 and 4, 3 and 5, 4 and 5, and 4 and 2, of which 4 does not wait; 5 waits for 2, but not for 1.
  EXPECT_EQ(order.pairs, 6);
}

TEST(StreamOrder, IsNothingWhereAllIsOnOneStream) {
  const VerifiedPlan verified(loopsPlan(2));
  const report::StreamOrder order = report::orderOf(*verified.plan().entries()->Get(0));
  EXPECT_EQ(order.waits, 0);
  EXPECT_EQ(order.pairs, 0);
}

TEST(Proofs, CountWhatThePlanHas) {
  const VerifiedPlan verified(spacesPlan());
  std::map<std::string, uint64_t> counts;
  for (const report::Proof &each : report::proofsOf(verified.plan()))
    counts[each.subject] = each.count;
  EXPECT_THAT(counts, testing::UnorderedElementsAre(
                          testing::Pair("buffers", 6), testing::Pair("operands", 15),
                          testing::Pair("reads", 8), testing::Pair("kernels", 2), testing::Pair("states", 1),
                          testing::Pair("pairs of instructions", 6), testing::Pair("waits", 7)));
}

} // namespace
} // namespace trainc::test
