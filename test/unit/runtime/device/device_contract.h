// Tests that every computing device must pass, instantiated by the includer with INSTANTIATE_TEST_SUITE_P.
// Results of entries are tested in executor_test.cpp.
#pragma once

#include "plan/schema/limits.h"
#include "runtime/device/device.h"
#include "test/unit/plan/plans/plan_builder.h"

#include <array>
#include <gmock/gmock.h>
#include <random>

namespace trainc::test {

inline std::vector<float> randomFloats(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(generator);
  return values;
}

using MakeDevice = std::unique_ptr<Device> (*)();

class DeviceTest : public testing::TestWithParam<MakeDevice> {
protected:
  const std::unique_ptr<Device> owner = GetParam()();
  Device &device = *owner;

  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes) {
    return device.allocate(name, fb::Space::Device, bytes, nullptr);
  }
  /// Runs an entry of copies and zeroings, whose buffer i is at an address.
  void run(const PlanBuilder &builder, std::span<const DeviceAddress> buffers) {
    PlanBytes bytes(builder.payload());
    const fb::Plan &plan = *fb::GetPlan(bytes.payload().data());
    auto executable =
        device.prepare(resolveProgram(plan, *plan.entries()->Get(0), 0, buffers), nullptr, nullptr);
    ASSERT_TRUE(executable.ok());
    device.enqueue(**executable, {0, static_cast<uint32_t>((*executable)->program().steps.size())});
    EXPECT_TRUE(device.synchronise().ok());
  }
  DeviceAddress upload(std::span<const float> values) {
    const DeviceAddress address = *allocate("test", values.size_bytes());
    device.write(address, std::as_bytes(values));
    EXPECT_TRUE(device.synchronise().ok());
    return address;
  }
  std::vector<float> download(DeviceAddress address, size_t count) {
    std::vector<float> values(count);
    device.read(std::as_writable_bytes(std::span(values)), address);
    EXPECT_TRUE(device.synchronise().ok());
    return values;
  }
};

TEST_P(DeviceTest, ArenasAreZeroedAndAligned) {
  const DeviceAddress address = *allocate("test", (3 << 20) + 5);
  EXPECT_EQ(address.value() % kArenaAlignment, 0u);
  EXPECT_THAT(download(address, 1000), testing::Each(0.0f));
}

TEST_P(DeviceTest, RefusesMoreMemoryThanThereIs) {
  const auto result = allocate("scratch", uint64_t{1} << 46);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().exitCode(), 1);
  EXPECT_THAT(result.status().message(), testing::HasSubstr("arena 'scratch'"));
}

TEST_P(DeviceTest, CopyAndZero) {
  const std::vector<float> values = randomFloats(300000, 1);
  const DeviceAddress from = upload(values), to = *allocate("to", values.size() * 4);
  PlanBuilder copy, zero;
  copy.copy(copy.entry("copy").instructions, at(0), at(1), values.size() * 4);
  run(copy, std::array{from, to});
  EXPECT_EQ(download(to, values.size()), values);
  zero.zero(zero.entry("zero").instructions, at(0, 4), values.size() * 4 - 8);
  run(zero, std::array{to});
  const std::vector<float> zeroed = download(to, values.size());
  EXPECT_EQ(zeroed.front(), values.front());
  EXPECT_EQ(zeroed.back(), values.back());
  EXPECT_THAT(std::span(zeroed).subspan(1, zeroed.size() - 2), testing::Each(0.0f));
}

TEST_P(DeviceTest, CopiesToDiskAndBack) {
  const std::vector<float> values = randomFloats(4096, 4);
  const uint64_t bytes = values.size() * sizeof(float);
  const Result<DeviceAddress> disk = device.allocate("offloaded", fb::Space::Disk, 2 * bytes, nullptr);
  ASSERT_TRUE(disk.ok()) << disk.status().message();
  EXPECT_EQ(device.allocatedBytes(), 0u) << "of memory";
  const DeviceAddress from = upload(values), to = *allocate("to", bytes);
  PlanBuilder there, unwritten;
  for (PlanBuilder *builder : {&there, &unwritten})
    for (const fb::Space space : {fb::Space::Device, fb::Space::Disk, fb::Space::Device})
      builder->buffer("memory", builder->arena("memory", space), fb::DType::F32, values.size());
  auto &body = there.entry("there_and_back").instructions;
  there.copy(body, at(0), at(1, bytes), bytes);
  PlanBuilder::on(body, fb::Stream::Disk);
  there.copy(body, at(1, bytes), at(2), bytes);
  PlanBuilder::on(body, fb::Stream::Disk);
  run(there, std::array{from, *disk, to});
  EXPECT_EQ(download(to, values.size()), values);
  unwritten.copy(unwritten.entry("back").instructions, at(1), at(2), bytes);
  PlanBuilder::on(unwritten.plan.entries[0]->instructions, fb::Stream::Disk);
  run(unwritten, std::array{from, *disk, to});
  EXPECT_THAT(download(to, values.size()), testing::Each(0.0f)) << "what nobody has written";
}

/// A store may outlast its entry. An entry that writes its source or reads its destination waits for it; an
/// entry in between that does neither does not.
TEST_P(DeviceTest, StoresOutlastTheirEntry) {
  const uint64_t count = uint64_t{4} << 20, bytes = count * sizeof(float), block = kDiskAlignment;
  const std::vector<float> values(count, 3);
  PlanBuilder builder;
  const uint32_t from = builder.buffer("from", PlanBuilder::kScratch, fb::DType::F32, count),
                 disk = builder.buffer("disk", builder.arena("disk", fb::Space::Disk, /*persistent=*/true),
                                       fb::DType::F32, count),
                 other = builder.buffer("other", PlanBuilder::kPersistent, fb::DType::F32, count);
  auto &store = builder.entry("update").instructions;
  builder.copy(store, at(from), at(disk), bytes);
  PlanBuilder::on(store, fb::Stream::Disk);
  builder.zero(builder.entry("begin_step").instructions, at(other), bytes);
  builder.zero(builder.entry("micro_step").instructions, at(from, bytes - block), block);
  PlanBytes file(builder.payload());
  const fb::Plan &plan = *fb::GetPlan(file.payload().data());
  const DeviceAddress onDisk = *device.allocate("disk", fb::Space::Disk, bytes, nullptr);
  const std::array addresses{upload(values), onDisk, *allocate("other", bytes)};
  std::vector<std::unique_ptr<Executable>> executables;
  for (const fb::Entry *entry : *plan.entries())
    executables.push_back(
        std::move(*device.prepare(resolveProgram(plan, *entry, 0, addresses), nullptr, nullptr)));
  for (int round = 0; round < 5; ++round) {
    device.write(addresses[0], std::as_bytes(std::span(values)));
    for (const auto &executable : executables)
      device.enqueue(*executable, {0, static_cast<uint32_t>(executable->program().steps.size())});
    EXPECT_TRUE(device.synchronise().ok());
    std::vector<float> stored(count);
    EXPECT_TRUE(device.readBeside(std::as_writable_bytes(std::span(stored)), onDisk).ok());
    EXPECT_EQ(stored, values);
    EXPECT_EQ(download(addresses[0], count).back(), 0);
    EXPECT_TRUE(device.waitForCopies().ok());
  }
}

TEST_P(DeviceTest, CopiesBesideWhatRuns) {
  const std::vector<float> values = randomFloats(100, 5);
  const DeviceAddress address = upload(values);
  std::vector<float> there(100);
  EXPECT_TRUE(device.readBeside(std::as_writable_bytes(std::span(there)), address).ok());
  EXPECT_EQ(there, values);
  const float last = 7;
  EXPECT_TRUE(device.writeBeside(address + 99 * sizeof(float), std::as_bytes(std::span(&last, 1))).ok());
  EXPECT_EQ(download(address, 100).back(), last);
}

} // namespace trainc::test
