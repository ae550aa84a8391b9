#include "test/unit/runtime/comm/engine.h"

#include "plan/facts/dtype.h"
#include "test/unit/runtime/comm/support.h"

#include <cstring>
#include <numeric>

namespace trainc::test {

std::string nameOf(const testing::TestParamInfo<Job> &info) { return testing::PrintToString(info.param); }

void PrintTo(const Job &job, std::ostream *out) {
  *out << fmt::format("{}_{}_by_{}", job.engine, job.grid.ranks, job.grid.shardRanks);
}

std::span<float> Rank::allocate(uint64_t elements) {
  const auto memory = communicator_.allocate("values", elements * sizeof(float));
  EXPECT_TRUE(memory.ok()) << memory.status().message();
  return {memory->as<float>(), elements};
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
  tickets_[slot] = communicator_.start(collective);
}

void Rank::wait(uint32_t slot) {
  const Status status = communicator_.wait(tickets_[slot]);
  EXPECT_TRUE(status.ok()) << status.message();
}

void Rank::run(Collective collective, std::span<const float> source, std::span<float> destination) {
  const CollectiveRange range = rangeOf(source, destination);
  run(collective, std::span(&range, 1));
}

void Rank::run(Collective collective, std::span<const CollectiveRange> ranges) {
  collective.ranges = ranges;
  run(collective);
}

void Rank::run(const Collective &collective) {
  tickets_[0] = communicator_.start(collective);
  wait(0);
  const uint64_t members = grid_.members(collective.axes, number()).count;
  const uint64_t rounds = collective.kind == MeetingKind::kAllReduce ? 2 : 1;
  for (const CollectiveRange &range : collective.ranges)
    ringBytes_ += grid_.ranks / members * rounds * (members - 1) * range.elements * elementBytes(range.dtype);
}

void Rank::expectBytesOfARing() {
  EXPECT_EQ(sumOverRanks(communicator_.bytesSent() - sentBefore_), ringBytes_) << "over all ranks";
  sentBefore_ = communicator_.bytesSent();
  ringBytes_ = 0;
}

uint64_t Rank::sumOverRanks(uint64_t number) {
  std::vector<uint64_t> numbers(grid_.ranks);
  const Status status = communicator_.exchange(std::as_bytes(std::span(&number, 1)),
                                               std::as_writable_bytes(std::span(numbers)));
  EXPECT_TRUE(status.ok()) << status.message();
  return std::accumulate(numbers.begin(), numbers.end(), uint64_t{0});
}

} // namespace trainc::test
