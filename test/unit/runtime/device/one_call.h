// Library calls by themselves, on every device that computes.
#pragma once

#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/emulated/emulated_device.h"
#include "test/unit/plan/plans/plan_builder.h"
#include "test/unit/runtime/device_memory.h"

#include <cmath>
#include <random>

namespace trainc::test {

using MakeComputingDevice = std::unique_ptr<Device> (*)();
template <unsigned threads> std::unique_ptr<Device> onCpu() { return std::make_unique<CpuDevice>(threads); }
template <uint64_t seed> std::unique_ptr<Device> onEmulated() {
  return std::make_unique<EmulatedDevice>(2, seed);
}

using Numbers = std::vector<float>;
using Reals = std::vector<double>;

inline Numbers randomNumbers(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  Numbers values(count);
  std::ranges::generate(values, [&] { return distribution(generator); });
  return values;
}

inline void expectNear(const Numbers &actual, const Reals &expected, double bound, const std::string &what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (!std::isinf(expected[i])) {
      ASSERT_NEAR(actual[i], expected[i], bound) << what << ", element " << i;
    } else {
      ASSERT_EQ(actual[i], expected[i]) << what << ", element " << i;
    }
  }
}

/// Buffers in one arena, and an entry of one call on them.
class OneCall {
public:
  explicit OneCall(Device &device) : device_(device) {}

  /// An operand for a new buffer that holds these.
  template <typename T> std::unique_ptr<fb::Operand> hold(const std::vector<T> &values) {
    const auto bytes = std::as_bytes(std::span(values));
    const DeviceAddress address = *device_.allocate("test", fb::Space::Device, bytes.size(), nullptr);
    device_.write(address, bytes);
    EXPECT_TRUE(device_.synchronise().ok());
    buffers_.push_back({address, bytes.size()});
    return some(at(static_cast<uint32_t>(buffers_.size() - 1)));
  }
  std::unique_ptr<fb::Operand> holdBytes(uint64_t bytes) {
    return bytes == 0 ? nullptr : hold(Numbers(bytes / sizeof(float), NAN));
  }

  PlanBuilder::Body &body() { return body_; }
  PlanBuilder builder;

  /// Runs the entry `times` times in sequence.
  Status run(int times = 1) {
    builder.entry("init").instructions = std::move(body_);
    const PlanBytes bytes(builder.payload());
    const fb::Plan &plan = *fb::GetPlan(const_cast<PlanBytes &>(bytes).payload().data());
    std::vector<DeviceAddress> addresses;
    for (const DeviceSpan &buffer : buffers_)
      addresses.push_back(buffer.address);
    TRAINC_ASSIGN_OR_RETURN(
        const std::unique_ptr<Executable> executable,
        device_.prepare(resolveProgram(plan, *plan.entries()->Get(0), 0, addresses), nullptr, nullptr));
    for (int i = 0; i < times; ++i)
      device_.enqueue(*executable, {0, static_cast<uint32_t>(executable->program().steps.size())});
    return device_.synchronise();
  }

  Numbers read(uint32_t buffer) const { return HostCopy<float>(device_, buffers_[buffer]); }

private:
  Device &device_;
  PlanBuilder::Body body_;
  std::vector<DeviceSpan> buffers_;
};

} // namespace trainc::test
