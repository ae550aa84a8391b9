// A plan with any single byte (not of kernel code) changed and its checksum recomputed is rejected or runs
// safely: arenas are surrounded by guard pages, and the asan preset checks the rest.
#include "runtime/device/cpu/cpu_device.h"
#include "test/unit/plan/plans/plan_builder.h"
#include "test/unit/runtime/run_plan.h"

#include <array>
#include <gtest/gtest.h>

namespace trainc::test {
namespace {

/// Offsets [begin, end) of the machine code in the payload.
std::pair<size_t, size_t> codeRange(const std::span<std::byte> payload, const fb::Plan &plan) {
  const auto *image = reinterpret_cast<const std::byte *>(plan.objects()->Get(0)->image()->data());
  const auto begin = static_cast<size_t>(image - payload.data());
  return {begin, begin + plan.objects()->Get(0)->image()->size()};
}

class SingleByte : public testing::TestWithParam<PlanBuilder (*)()> {};

TEST_P(SingleByte, EveryChangeIsRefusedOrRunsSafely) {
  PlanBytes bytes(GetParam()().payload());
  const auto [codeBegin, codeEnd] = codeRange(bytes.payload(), **bytes.read());
  size_t accepted = 0, tried = 0;
  for (size_t i = 0; i < bytes.payload().size(); ++i) {
    if (i >= codeBegin && i < codeEnd)
      continue;
    const std::byte original = bytes.payload()[i];
    for (const std::byte change : {std::byte{0x01}, std::byte{0x80}, std::byte{0x34}, original}) {
      if (change == std::byte{0})
        continue;
      bytes.payload()[i] = original ^ change;
      bytes.seal();
      ++tried;
      if (const auto plan = bytes.read(); plan.ok()) {
        ++accepted;
        CpuDevice device(1);
        runAllEntries(**plan, device);
      }
    }
    bytes.payload()[i] = original;
  }
  bytes.seal();
  EXPECT_TRUE(bytes.read().ok());
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(tried, 4 * accepted / 3) << "the verifier refuses little";
}

/// Bound to addresses, but not run, as there are no peers.
PlanBuilder planOfTwoRanks() { return ranksPlan(2, 2); }

/// Accepted and rejected, as there is no code for its kernels.
PlanBuilder planOfLoops() { return loopsPlan(3); }

const char *nameOf(size_t plan) {
  constexpr std::array names = {"OneRank", "TwoRanks", "Spaces", "Loops", "Libraries"};
  return names[plan];
}

INSTANTIATE_TEST_SUITE_P(Plans, SingleByte,
                         testing::Values(fullPlan, planOfTwoRanks, spacesPlan, planOfLoops, libraryPlan),
                         [](const auto &info) { return nameOf(info.index); });

} // namespace
} // namespace trainc::test
