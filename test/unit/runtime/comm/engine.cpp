#include "test/unit/runtime/comm/engine.h"

#include "test/unit/runtime/comm/support.h"

#include <algorithm>

namespace trainc::test {

std::string nameOf(const testing::TestParamInfo<Job> &info) { return testing::PrintToString(info.param); }

void PrintTo(const Job &job, std::ostream *out) {
  *out << fmt::format("{}_{}_by_{}", job.engine, job.grid.ranks, job.grid.shardRanks);
}

std::span<float> Rank::allocate(uint64_t elements) {
  const auto memory = communicator_.allocate("values", elements * sizeof(float));
  EXPECT_TRUE(memory.ok()) << memory.status().message();
  return {reinterpret_cast<float *>(*memory), elements};
}

std::span<float> Rank::allocateValues(uint64_t elements) {
  const std::span<float> values = allocate(elements);
  for (uint64_t i = 0; i < elements; ++i)
    values[i] = value(number(), i);
  return values;
}

void Rank::start(uint32_t slot, Collective collective, std::span<const float> source,
                 std::span<float> destination) {
  ranges_[slot] = rangeOf(source, destination);
  collective.ranges = std::span(&ranges_[slot], 1);
  communicator_.start(slot, collective);
}

void Rank::wait(uint32_t slot) {
  const Status status = communicator_.wait(slot);
  EXPECT_TRUE(status.ok()) << status.message();
}

void Rank::run(Collective collective, std::span<const float> source, std::span<float> destination) {
  start(0, collective, source, destination);
  wait(0);
}

} // namespace trainc::test
