// The toy plan on a device, and data for it.
#pragma once

#include "runtime/data/dataset.h"
#include "runtime/exec/executor.h"
#include "test/unit/runtime/device_memory.h"
#include "test/unit/runtime/state/support.h"
#include "test/unit/runtime/state_of.h"
#include "test/unit/runtime/test_device.h"
#include "test/unit/runtime/training/toy_plan.h"

namespace trainc::test {

/// The toy plan, or another one of its kernels, for the device of the test.
inline PlanBuilder toyForTestDevice(PlanBuilder builder = toyPlan()) {
  return testsOnCuda() ? toyOnCuda(std::move(builder)) : std::move(builder);
}

/// A fresh executor of the toy plan, initialised with `seed`; of one rank, where there are several.
class ToyRun {
public:
  explicit ToyRun(uint64_t seed = 1, unsigned threads = 1, const PlanBuilder &builder = toyPlan(),
                  Communicator *communicator = nullptr)
      : bytes_(toyForTestDevice(builder).payload()), device_(testDevice(threads)) {
    const auto plan = bytes_.read();
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    auto created = Executor::create(**plan, *device_, {.communicator = communicator});
    EXPECT_TRUE(created.ok()) << created.status().message();
    executor_ = std::move(*created);
    executor_->scalars().set("seed", seed);
    EXPECT_TRUE(executor_->run("init").ok());
  }

  Executor &executor() { return *executor_; }
  HostCopy<float> weights() { return {*device_, stateOf(*executor_, "wte.weight").memory}; }

private:
  PlanBytes bytes_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Executor> executor_;
};

/// Writes `samples` samples of a stream in which token t is followed by 3t + 1 modulo 16, so that a bigram
/// model predicts it without error.
inline void writeToyTokens(const std::filesystem::path &path, uint64_t samples) {
  std::string text;
  uint16_t token = 1;
  for (uint64_t i = 0; i <= samples * kToyLength; ++i) {
    text.push_back(static_cast<char>(token));
    text.push_back('\0');
    token = static_cast<uint16_t>((3 * token + 1) % 16);
  }
  writeFile(path, text);
}

} // namespace trainc::test
