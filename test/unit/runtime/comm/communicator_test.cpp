#include "runtime/comm/communicator.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

TEST(Collectives, DescribeThemselves) {
  const CollectiveRange range{.elements = 7}, ranges[] = {range, {.elements = 3}},
                                              mixed[] = {range, {.elements = 3, .dtype = fb::DType::BF16}};
  const std::span<const CollectiveRange> one(&range, 1);
  EXPECT_EQ(describe(Collective{.kind = MeetingKind::kAllReduce, .ranges = one}), "all-reduce of 7 f32");
  EXPECT_EQ(describe(Collective{.kind = MeetingKind::kBarrier}), "barrier");
  EXPECT_EQ(
      describe(Collective{.kind = MeetingKind::kAllGather, .group = fb::Group::Shard, .ranges = ranges}),
      "all-gather of 10 f32 in 2 ranges over the shard group");
  EXPECT_EQ(describe(Collective{.kind = MeetingKind::kAllGather, .ranges = mixed}),
            "all-gather of 34 u8 in 2 ranges");
  EXPECT_EQ(describe(Collective{.kind = MeetingKind::kBarrier, .group = fb::Group::Replica}),
            "barrier over the replica group");
}

} // namespace
} // namespace trainc
