// Groups of ranks, and the expected sums.
#pragma once

#include "base/small_float.h"
#include "runtime/comm/local/local_group.h"
#include "test/unit/common/grid.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace trainc::test {

/// A timeout that no busy machine reaches; a wait that ends earlier ends for another reason.
inline constexpr double kNever = 60;

using Floats = std::span<float>;

inline constexpr Collective kAllReduce{.kind = MeetingKind::kAllReduce},
    kReduceScatter{.kind = MeetingKind::kReduceScatter}, kAllGather{.kind = MeetingKind::kAllGather};

/// The i-th value of a rank: of either sign and any size between 2^-12 and 2^12, so that sums depend on the
/// order of adding.
float value(uint32_t rank, uint64_t i);

/// Sum of valueOf(rank) over the existing ranks in [first, first + width); `width` is a power of two. An
/// independent implementation of the tree of tree_sum.h.
template <typename ValueOf>
std::optional<float> subtree(uint32_t ranks, uint32_t first, uint32_t width, ValueOf valueOf) {
  if (first >= ranks)
    return std::nullopt;
  if (width == 1)
    return valueOf(first);
  const auto left = subtree(ranks, first, width / 2, valueOf);
  const auto right = subtree(ranks, first + width / 2, width / 2, valueOf);
  return right ? *left + *right : *left;
}

/// The i-th sum of ranks' values over the tree.
float treeSum(uint32_t ranks, uint64_t i);

/// The first such sums.
std::vector<float> treeSums(uint32_t ranks, uint64_t elements);

/// The i-th value of a rank in bf16 or f16: such a one rounded, or one that is special where rounding is.
template <typename Small> Small smallValue(uint32_t rank, uint64_t i) {
  constexpr uint16_t infinity = std::is_same_v<Small, Float16> ? 0x7c00 : 0x7f80;
  constexpr uint16_t sign = 0x8000;
  const uint16_t special[] = {0,
                              1,                                           // the smallest number
                              sign | 1,                                    // ... of the other sign
                              static_cast<uint16_t>(infinity - 1),         // the largest: twice it overflows
                              static_cast<uint16_t>(rank + 3),             // subnormal
                              Small::nearest(rank == 0 ? 256.0 : 1).bits,  // more digits than bf16 has,
                              Small::nearest(rank == 0 ? 2048.0 : 1).bits, // or f16
                              Small::nearest(rank % 2 == 0 ? 3e4 : -3e4).bits};
  const bool isFirst = rank == 0;
  switch (i % 32) {
  case 30:
    return {static_cast<uint16_t>(isFirst ? infinity : infinity | sign)}; // together not a number
  case 31:
    return {static_cast<uint16_t>(isFirst ? infinity | 1 : 0)};
  case 29:
    return {static_cast<uint16_t>(isFirst ? infinity : 0)};
  default:
    return i % 32 < std::size(special) ? Small{special[i % 32]} : Small::nearest(double{value(rank, i)});
  }
}

/// Their sum over the tree of `ranks` ranks from `first` on, in f32.
template <typename Small> float wideTreeSum(uint32_t first, uint32_t ranks, uint64_t i) {
  return subtree(first + ranks, first, std::bit_ceil(ranks),
                 [i](uint32_t rank) { return static_cast<float>(smallValue<Small>(rank, i)); })
      .value_or(0);
}

/// The sum over all ranks, rounded once.
template <typename Small> Small smallTreeSum(uint32_t ranks, uint64_t i) {
  return Small::nearest(double{wideTreeSum<Small>(0, ranks, i)});
}

/// Whether the numbers have the same bits, or are none.
template <typename Small> bool sameNumber(Small a, Small b) {
  const auto isNan = [](Small x) { return std::isnan(static_cast<float>(x)); };
  return a.bits == b.bits || (isNan(a) && isNan(b));
}
inline bool sameFloat(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

/// The i-th element becomes factor (i % 10007): sums of such numbers over ranks are exact.
void fillWithMultiples(Floats floats, uint64_t factor);
/// How many elements are others.
uint64_t countOthers(std::span<const float> floats, uint64_t factor);

/// Whether the floats have the same bits.
inline bool sameBits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

inline CollectiveRange rangeOf(std::span<const float> source, std::span<float> destination) {
  return {.source = DeviceAddress(source.data()),
          .destination = DeviceAddress(destination.data()),
          .elements = std::max(source.size(), destination.size())};
}

inline CollectiveRange rangeOf(std::span<const Float16> source, std::span<Float16> destination) {
  return {DeviceAddress(source.data()), DeviceAddress(destination.data()),
          std::max(source.size(), destination.size()), fb::DType::F16};
}
inline CollectiveRange rangeOf(std::span<const BFloat16> source, std::span<BFloat16> destination) {
  return {DeviceAddress(source.data()), DeviceAddress(destination.data()),
          std::max(source.size(), destination.size()), fb::DType::BF16};
}

/// Range of a reduce-scatter whose sums stay f32.
template <typename Small>
CollectiveRange wideningRange(std::span<const Small> source, std::span<float> destination) {
  return {DeviceAddress(source.data()), DeviceAddress(destination.data()), source.size(),
          std::is_same_v<Small, Float16> ? fb::DType::F16 : fb::DType::BF16, true};
}

/// All ranks of a group, driven by one thread: start() returns at once, so it can start one rank after the
/// other.
class Ranks {
public:
  Ranks(Grid grid, uint64_t bytesPerRank, LocalOptions options = {.timeoutSeconds = kNever});
  Ranks(uint32_t ranks, uint64_t bytesPerRank, LocalOptions options = {.timeoutSeconds = kNever})
      : Ranks(Grid{ranks, 1}, bytesPerRank, options) {}

  const LocalGroup &group() const { return group_; }
  uint32_t size() const { return static_cast<uint32_t>(ranks_.size()); }
  Communicator &operator[](uint32_t rank) { return *ranks_[rank]; }
  void end(uint32_t rank) { ranks_[rank].reset(); }

  /// The same allocation on every rank.
  std::vector<std::span<float>> allocate(uint64_t elements);
  /// allocate(), filled with value().
  std::vector<std::span<float>> allocateValues(uint64_t elements);

  /// One range: source, destination and the number of elements are filled in.
  void start(uint32_t rank, uint32_t slot, Collective collective, std::span<const float> source,
             std::span<float> destination);
  void start(uint32_t rank, uint32_t slot, MeetingKind kind, std::span<const float> source,
             std::span<float> destination) {
    start(rank, slot, {.kind = kind}, source, destination);
  }
  /// As it is.
  void start(uint32_t rank, uint32_t slot, const Collective &collective) {
    tickets_[rank][slot] = ranks_[rank]->start(collective);
  }
  void startAll(uint32_t slot, MeetingKind kind, const std::vector<std::span<float>> &sources,
                const std::vector<std::span<float>> &destinations);
  /// In place, for all kinds but kReduceScatter.
  void start(uint32_t rank, uint32_t slot, MeetingKind kind, std::span<float> buffer);
  void startAll(uint32_t slot, MeetingKind kind, const std::vector<std::span<float>> &buffers);
  /// Waits for the collective last started in the slot.
  Status wait(uint32_t rank, uint32_t slot) { return ranks_[rank]->wait(tickets_[rank][slot]); }
  /// Expects success.
  void waitAll(uint32_t slot);

private:
  LocalGroup group_;
  std::vector<std::array<CollectiveRange, 64>> ranges_; ///< by rank and slot, which is a name for wait()
  std::vector<std::array<Ticket, 64>> tickets_;         ///< likewise
  std::vector<std::unique_ptr<Communicator>> ranks_;
};

} // namespace trainc::test
