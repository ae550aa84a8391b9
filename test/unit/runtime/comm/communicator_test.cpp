#include "runtime/comm/communicator.h"

#include "test/unit/common/grid.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

TEST(Collectives, DescribeThemselves) {
  const CollectiveRange range{.elements = 7}, ranges[] = {range, {.elements = 3}},
                                              mixed[] = {range, {.elements = 3, .dtype = fb::DType::BF16}};
  const std::span<const CollectiveRange> one(&range, 1);
  const auto text = [](const Collective &collective) {
    return describe(collective, test::Grid{4, 2}.mesh());
  };
  EXPECT_EQ(text({.kind = MeetingKind::kAllReduce, .ranges = one}), "all-reduce of 7 f32");
  EXPECT_EQ(text({.kind = MeetingKind::kBarrier}), "barrier");
  EXPECT_EQ(text({.kind = MeetingKind::kAllGather, .axes = test::kShard, .ranges = ranges}),
            "all-gather of 10 f32 in 2 ranges over shard");
  EXPECT_EQ(text({.kind = MeetingKind::kAllGather, .ranges = mixed}), "all-gather of 34 u8 in 2 ranges");
  EXPECT_EQ(text({.kind = MeetingKind::kBarrier, .axes = test::kReplica}), "barrier over replica");
  const CollectiveRange wide{.elements = 8, .dtype = fb::DType::BF16, .widens = true};
  EXPECT_EQ(text({.kind = MeetingKind::kReduceScatter, .ranges = std::span(&wide, 1)}),
            "reduce-scatter of 8 bf16 into f32");
}

TEST(Collectives, DifferWhereOneRangeWidens) {
  const CollectiveRange low{.elements = 8, .dtype = fb::DType::BF16};
  CollectiveRange ranges[2][2] = {{low, low}, {low, low}};
  ranges[0][0].widens = ranges[1][1].widens = true;
  const auto fingerprint = [](std::span<const CollectiveRange> ranges) {
    return fingerprintOf({.kind = MeetingKind::kReduceScatter, .ranges = ranges});
  };
  EXPECT_EQ(fingerprint(ranges[0]), fingerprint(ranges[0]));
  EXPECT_FALSE(fingerprint(ranges[0]) == fingerprint(ranges[1]));
  EXPECT_FALSE(fingerprint(std::span(ranges[0]).first(1)) == fingerprint(std::span(&low, 1)));
}

} // namespace
} // namespace trainc
