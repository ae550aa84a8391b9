#include "test/unit/runtime/comm/support.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace trainc::test {

static float multiple(uint64_t i, uint64_t factor) { return static_cast<float>(factor * (i % 10007)); }

// Elements are reached by address: tests are compiled without optimisation, where a span's operator is a
// call.
void fillWithMultiples(Floats floats, uint64_t factor) {
  float *data = floats.data();
  for (uint64_t i = 0, size = floats.size(); i < size; ++i)
    data[i] = multiple(i, factor);
}

uint64_t countOthers(std::span<const float> floats, uint64_t factor) {
  const float *data = floats.data();
  uint64_t others = 0;
  for (uint64_t i = 0, size = floats.size(); i < size; ++i)
    others += data[i] != multiple(i, factor);
  return others;
}

namespace {

LocalGroup makeGroup(Grid grid, uint64_t bytesPerRank, LocalOptions options) {
  auto group = LocalGroup::create(grid.mesh(), bytesPerRank, options);
  EXPECT_TRUE(group.ok()) << group.status().message();
  return *group;
}

} // namespace

float value(uint32_t rank, uint64_t i) {
  uint64_t bits = (i * 64 + rank + 1) * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 31)) * 0xbf58476d1ce4e5b9U;
  bits ^= bits >> 29;
  const float fraction = 1 + static_cast<float>(bits >> 41) * 0x1p-23F;
  const float magnitude = std::ldexp(fraction, static_cast<int>(bits % 24) - 12);
  return (bits & 0x100) != 0 ? -magnitude : magnitude;
}

float treeSum(uint32_t ranks, uint64_t i) {
  return subtree(ranks, 0, std::bit_ceil(ranks), [i](uint32_t rank) { return value(rank, i); }).value_or(0);
}

std::vector<float> treeSums(uint32_t ranks, uint64_t elements) {
  std::vector<float> sums(elements);
  for (uint64_t i = 0; i < elements; ++i)
    sums[i] = treeSum(ranks, i);
  return sums;
}

Ranks::Ranks(Grid grid, uint64_t bytesPerRank, LocalOptions options)
    : group_(makeGroup(grid, bytesPerRank, options)), ranges_(grid.ranks), tickets_(grid.ranks) {
  for (uint32_t rank = 0; rank < grid.ranks; ++rank) {
    auto communicator = group_.communicator(rank);
    EXPECT_TRUE(communicator.ok()) << communicator.status().message();
    ranks_.push_back(std::move(*communicator));
  }
}

std::vector<std::span<float>> Ranks::allocate(uint64_t elements) {
  std::vector<std::span<float>> buffers;
  for (auto &rank : ranks_) {
    const auto memory = rank->allocate("values", elements * sizeof(float));
    EXPECT_TRUE(memory.ok()) << memory.status().message();
    buffers.emplace_back(memory->as<float>(), elements);
  }
  return buffers;
}

std::vector<std::span<float>> Ranks::allocateValues(uint64_t elements) {
  auto buffers = allocate(elements);
  for (uint32_t rank = 0; rank < size(); ++rank)
    for (uint64_t i = 0; i < elements; ++i)
      buffers[rank][i] = value(rank, i);
  return buffers;
}

void Ranks::start(uint32_t rank, uint32_t slot, Collective collective, std::span<const float> source,
                  std::span<float> destination) {
  ranges_[rank][slot] = rangeOf(source, destination);
  collective.ranges = std::span(&ranges_[rank][slot], 1);
  start(rank, slot, collective);
}

void Ranks::startAll(uint32_t slot, MeetingKind kind, const std::vector<std::span<float>> &sources,
                     const std::vector<std::span<float>> &destinations) {
  for (uint32_t rank = 0; rank < size(); ++rank)
    start(rank, slot, kind, sources[rank], destinations[rank]);
}

void Ranks::start(uint32_t rank, uint32_t slot, MeetingKind kind, std::span<float> buffer) {
  const size_t part = buffer.size() / size();
  const bool gathers = kind == MeetingKind::kAllGather;
  start(rank, slot, kind, gathers ? buffer.subspan(rank * part, part) : buffer, buffer);
}

void Ranks::startAll(uint32_t slot, MeetingKind kind, const std::vector<std::span<float>> &buffers) {
  for (uint32_t rank = 0; rank < size(); ++rank)
    start(rank, slot, kind, buffers[rank]);
}

void Ranks::waitAll(uint32_t slot) {
  for (uint32_t rank = 0; rank < size(); ++rank) {
    const Status status = wait(rank, slot);
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

} // namespace trainc::test
