#include "runtime/data/sample_order.h"

#include "runtime/data/philox.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace trainc {

namespace {

/// Even, so that the halves end as wide as they began.
constexpr uint32_t kRounds = 8;

} // namespace

SampleOrder::SampleOrder(uint64_t samples, uint64_t seed, bool shuffle)
    : samples_(samples), seed_(seed), shuffle_(shuffle) {
  assert(samples > 0 && samples < (uint64_t{1} << 62));
  const int bits = std::max(2, static_cast<int>(std::bit_width(samples - 1)));
  leftBits_ = bits / 2;
  rightBits_ = bits - leftBits_;
}

uint64_t SampleOrder::operator()(uint64_t position) const {
  const uint64_t epoch = position / samples_;
  uint64_t sample = position % samples_;
  if (!shuffle_)
    return sample;
  // Cycle walking: the network permutes a power of two below 2 * samples (or 4); following the cycle until it
  // is back among the samples gives a permutation of these.
  do
    sample = permute(sample, epoch);
  while (sample >= samples_);
  return sample;
}

/// A Feistel network whose halves may differ by one bit and swap roles each round; the round function is
/// Philox.
uint64_t SampleOrder::permute(uint64_t value, uint64_t epoch) const {
  int leftBits = leftBits_;
  int rightBits = rightBits_;
  for (uint32_t round = 0; round < kRounds; ++round) {
    const uint64_t left = value >> rightBits;
    const uint64_t right = value & ((uint64_t{1} << rightBits) - 1);
    const auto random = philox4x32({static_cast<uint32_t>(right), round, static_cast<uint32_t>(epoch),
                                    static_cast<uint32_t>(epoch >> 32)},
                                   {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
    const uint64_t mixed = left ^ (random[0] & ((uint64_t{1} << leftBits) - 1));
    value = right << leftBits | mixed;
    std::swap(leftBits, rightBits);
  }
  return value;
}

} // namespace trainc
