// spacesPlan() on ranks that are threads.
#include "test/unit/plan/plans/plan_builder.h"
#include "test/unit/runtime/device_memory.h"
#include "test/unit/runtime/direct_files.h"
#include "test/unit/runtime/rank_threads.h"
#include "test/unit/runtime/test_device.h"

#include "plan/schema/limits.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

/// All arenas of a rank share one allocation, so an arena's alignment there depends on the arena before.
TEST(ExecutorSpaces, CopiesToDiskAreAlignedOnEveryRank) {
  PlanBuilder builder = spacesPlan();
  builder.setRanks({2, 2});
  // makes the size of the first arena unaligned
  builder.scalar("loss", fb::DType::F32, fb::Direction::FromDevice);
  PlanBytes bytes(builder.payload());
  const auto plan = bytes.read();
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const size_t others = directFiles();
  onRanks(**plan, [&](Communicator &communicator) {
    const auto device = testDevice();
    auto executor = Executor::create(**plan, *device, {.communicator = &communicator});
    ASSERT_TRUE(executor.ok()) << executor.status().message();
    const DeviceSpan w = (*executor)->states()[0].memory;
    std::ranges::fill(HostCopy<float>(*device, w), 4.0F);
    const Status status = (*executor)->run("init");
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(HostCopy<float>(*device, w), testing::Each(0.5F));
    for (uint32_t i = 0; i < (*plan)->buffers()->size(); ++i)
      if ((*plan)->buffers()->Get(i)->offset() % kDiskAlignment == 0) {
        EXPECT_EQ((*executor)->buffer(i).address.value() % kDiskAlignment, 0U) << "buffer " << i;
      }
    EXPECT_TRUE(communicator.barrier().ok());
    if (canBeDirect() && communicator.rank() == 0) {
      EXPECT_EQ(directFiles(), others + 2) << "a copy was not as direct I/O asks";
    }
    EXPECT_TRUE(communicator.barrier().ok());
  });
}

} // namespace
} // namespace trainc::test
