#include "runtime/comm/communicator.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

TEST(Collectives, DescribeThemselves) {
  EXPECT_EQ(describe({.kind = CollectiveKind::kAllReduce, .elements = 7}), "all-reduce of 7 f32");
  EXPECT_EQ(describe({.kind = CollectiveKind::kBroadcast, .dtype = fb::DType::U8, .elements = 8, .root = 1}),
            "broadcast of 8 u8 from place 1");
  EXPECT_EQ(describe({.kind = CollectiveKind::kBarrier}), "barrier");
  EXPECT_EQ(describe({.kind = CollectiveKind::kAllGather, .group = fb::Group::Shard, .elements = 4}),
            "all-gather of 4 f32 over the shard group");
  EXPECT_EQ(describe({.kind = CollectiveKind::kBarrier, .group = fb::Group::Replica}),
            "barrier over the replica group");
}

TEST(Collectives, BytesOfUnevenPartsAreRoundedDown) {
  EXPECT_EQ(ringBytes({.kind = CollectiveKind::kAllReduce, .elements = 10}, 3), 53U); // 53 1/3
  EXPECT_EQ(ringBytes({.kind = CollectiveKind::kAllReduce, .elements = 10}, 1), 0U);
}

} // namespace
} // namespace trainc
