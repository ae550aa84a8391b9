// Faults that the emulated device finds, and absence of false positives.
#include "runtime/device/emulated/emulated_device.h"

#include "test/unit/plan/plans/plan_builder.h"
#include "test/unit/runtime/device_memory.h"
#include "test/unit/runtime/rank_threads.h"

#include <cmath>
#include <gmock/gmock.h>
#include <set>

namespace trainc::test {
namespace {

constexpr uint64_t kSeeds = 16;

std::span<std::byte> bytesOf(float &value) { return std::as_writable_bytes(std::span(&value, 1)); }

TEST(EmulatedDeviceDeathTest, TheHostCannotTouchItsMemory) {
  EmulatedDevice device(1, 0);
  const DeviceAddress address = *device.allocate("test", fb::Space::Device, 64, nullptr);
  EXPECT_TRUE(device.hostView({address, 64}).empty());
  EXPECT_DEATH(std::fill_n(address.pointer(), 4, std::byte{1}), "");
}

TEST(EmulatedDevice, WhatIsReadIsThereAfterSynchronising) {
  EmulatedDevice device(1, 0);
  const DeviceAddress address = *device.allocate("test", fb::Space::Device, 64, nullptr);
  float sent = 3, received = 0;
  device.write(address, bytesOf(sent));
  device.read(bytesOf(received), address);
  EXPECT_TRUE(std::isnan(received)) << "nobody has waited for it";
  ASSERT_TRUE(device.synchronise().ok());
  EXPECT_EQ(received, 3);
}

TEST(EmulatedDevice, WhatIsWrittenMayBeFetchedLate) {
  std::set<float> fetched;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    EmulatedDevice device(1, seed);
    const DeviceAddress address = *device.allocate("test", fb::Space::Device, 64, nullptr);
    float sent = 3, other = 0, received = 0;
    device.write(address, bytesOf(sent));
    device.write(address + 32, bytesOf(other));
    sent = 4; // too early
    device.read(bytesOf(received), address);
    ASSERT_TRUE(device.synchronise().ok());
    fetched.insert(received);
  }
  EXPECT_THAT(fetched, testing::ElementsAre(3, 4));
}

const fb::Entry &entryOf(const fb::Plan &plan, std::string_view name) {
  return **std::ranges::find_if(*plan.entries(),
                                [&](const fb::Entry *each) { return each->name()->string_view() == name; });
}

/// The steps of an entry in the order of a seed.
std::vector<uint32_t> order(const Program &program, uint64_t seed) {
  std::mt19937_64 random(seed);
  Interleaving interleaving(program, {0, static_cast<uint32_t>(program.steps.size())}, random);
  std::vector<uint32_t> steps;
  while (const std::optional<Turn> turn = interleaving.next())
    steps.push_back(turn->step);
  return steps;
}

TEST(Interleaving, KeepsWhatThePlanSays) {
  PlanBytes bytes(ranksPlan(2, 2).payload());
  const fb::Plan &plan = **bytes.read();
  const std::vector<DeviceAddress> buffers(plan.buffers()->size());
  const Program program = resolveProgram(plan, entryOf(plan, "micro_step"), 0, buffers);
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    const std::vector<uint32_t> steps = order(program, seed);
    ASSERT_EQ(steps.size(), program.steps.size());
    const auto turnOf = [&](uint32_t step) { return std::ranges::find(steps, step) - steps.begin(); };
    for (uint32_t i = 0; i < program.steps.size(); ++i) {
      for (const uint32_t other : program.afterOf(program.steps[i]))
        EXPECT_LT(turnOf(other), turnOf(i));
      for (uint32_t j = 0; j < i; ++j)
        EXPECT_TRUE(program.steps[j].stream != program.steps[i].stream || turnOf(j) < turnOf(i));
    }
    orders.insert(steps);
  }
  EXPECT_GT(orders.size(), 3U);
}

TEST(Interleaving, LoopsRunInOrder) {
  PlanBytes bytes(fullPlan().payload());
  const fb::Plan &plan = **bytes.read();
  const std::vector<DeviceAddress> buffers(plan.buffers()->size());
  const Program program = resolveProgram(plan, entryOf(plan, "update"), 0, buffers);
  std::vector<uint32_t> expected(16, 0); // the loop's only step, and the steps after it
  expected.insert(expected.end(), {1, 2, 3});
  EXPECT_EQ(order(program, 5), expected);
}

/// Fills with NaN all that an entry must not read before it has written it.
void spoilScratch(Executor &executor) {
  const fb::Plan &plan = executor.plan();
  for (uint32_t i = 0; i < plan.buffers()->size(); ++i)
    if (!plan.arenas()->Get(plan.buffers()->Get(i)->arena())->persistent()) {
      HostCopy<std::byte> bytes(executor.device(), executor.buffer(i));
      std::ranges::fill(bytes, std::byte{0xff});
    }
}

/// Memory of ranks after micro_step and update; `deviceOf(rank)` creates their devices.
template <typename MakeDevice>
std::vector<std::vector<std::byte>> runRanks(const fb::Plan &plan, MakeDevice deviceOf) {
  std::vector<std::vector<std::byte>> memory(plan.ranks());
  onRanks(plan, [&](Communicator &communicator) {
    const auto device = deviceOf(communicator.rank());
    auto executor = Executor::create(plan, *device, {.communicator = &communicator});
    ASSERT_TRUE(executor.ok()) << executor.status().message();
    float next = static_cast<float>(communicator.rank());
    for (const StateView &state : (*executor)->states())
      for (HostCopy<float> values(*device, state.memory); float &value : values)
        value = next += 0.25F;
    for (const char *entry : {"micro_step", "update"}) {
      spoilScratch(**executor);
      ASSERT_TRUE((*executor)->run(entry).ok());
      for (uint32_t i = 0; i < plan.buffers()->size(); ++i) {
        const HostCopy<std::byte> bytes(*device, (*executor)->buffer(i));
        auto &all = memory[communicator.rank()];
        all.insert(all.end(), bytes.begin(), bytes.end());
      }
    }
  });
  return memory;
}

auto emulated(uint64_t seed) {
  return [seed](uint32_t rank) { return std::make_unique<EmulatedDevice>(1, seed * 100 + rank); };
}

class EmulatedRanks : public testing::Test {
protected:
  EmulatedRanks() : bytes_(builder_.payload()) {
    expected_ = runRanks(**bytes_.read(), [](uint32_t) { return std::make_unique<CpuDevice>(1); });
  }
  /// The seeds that find something wrong.
  uint64_t findings(const fb::Plan &plan) const {
    uint64_t count = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed)
      count += runRanks(plan, emulated(seed)) != expected_;
    return count;
  }

  PlanBuilder builder_ = ranksPlan(2, 2);
  PlanBytes bytes_;
  std::vector<std::vector<std::byte>> expected_;
};

TEST_F(EmulatedRanks, HaveTheBitsOfTheCpu) { EXPECT_EQ(findings(**bytes_.read()), 0U); }

/// Calls `visit(plan, what)` with each edge of an entry removed in turn; returns the number of edges.
template <typename Visitor>
uint64_t forEachMissingEdge(PlanBuilder &builder, std::string_view name, Visitor visit) {
  uint64_t edges = 0;
  const auto entry =
      std::ranges::find(builder.plan.entries, name, [](const auto &each) { return each->name; });
  for (const auto &instruction : (*entry)->instructions) {
    const std::vector<uint32_t> all = instruction->after;
    for (const uint32_t edge : all) {
      std::erase(instruction->after, edge);
      PlanBytes faulty(builder.payload());
      visit(*fb::GetPlan(faulty.payload().data()), fmt::format("{}, to instruction {}", name, edge));
      instruction->after = all;
      ++edges;
    }
  }
  return edges;
}

TEST_F(EmulatedRanks, EveryMissingEdgeIsFound) {
  uint64_t edges = 0;
  for (const char *name : {"micro_step", "update"})
    edges += forEachMissingEdge(builder_, name, [&](const fb::Plan &plan, const std::string &what) {
      EXPECT_GT(findings(plan), 0U) << what;
    });
  EXPECT_GT(edges, 5U);
}

/// The parameter after init, which takes it to the host, to disk and back.
std::vector<float> runSpaces(const fb::Plan &plan, Device &device) {
  auto executor = Executor::create(plan, device);
  EXPECT_TRUE(executor.ok()) << executor.status().message();
  const DeviceSpan memory = (*executor)->states()[0].memory;
  {
    HostCopy<float> values(device, memory);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 2 + static_cast<float>(i);
  }
  const Status status = (*executor)->run("init");
  EXPECT_TRUE(status.ok()) << status.message();
  return HostCopy<float>(device, memory);
}

TEST(EmulatedSpaces, EveryMissingEdgeIsFound) {
  PlanBuilder builder = spacesPlan();
  PlanBytes bytes(builder.payload());
  CpuDevice cpu(1);
  const std::vector<float> expected = runSpaces(**bytes.read(), cpu);
  EXPECT_EQ(expected[2], 2 / 4.0F);
  const auto findings = [&](const fb::Plan &plan) {
    uint64_t count = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      EmulatedDevice device(1, seed);
      count += runSpaces(plan, device) != expected;
    }
    return count;
  };
  EXPECT_EQ(findings(**bytes.read()), 0U);
  const uint64_t edges =
      forEachMissingEdge(builder, "init", [&](const fb::Plan &plan, const std::string &what) {
        EXPECT_GT(findings(plan), 0U) << what;
      });
  EXPECT_EQ(edges, 7U);
}

} // namespace
} // namespace trainc::test
