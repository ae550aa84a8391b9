// Which sample comes when.
#pragma once

#include <cstdint>

namespace trainc {

/// An order of samples that goes on for ever: a function of seed and position alone, so that neither the
/// number of ranks, nor accumulation, nor a restart changes it. Random access in O(1) time and memory.
class SampleOrder {
public:
  /// Each epoch visits all of `samples` (at least 1, below 2^62) once, in its own pseudo-random permutation.
  static SampleOrder shuffled(uint64_t samples, uint64_t seed) { return {samples, seed, true}; }
  /// Each epoch visits them in order (evaluation).
  static SampleOrder sequential(uint64_t samples) { return {samples, 0, false}; }

  /// The sample at `position` (global step * samples per step + position within the step).
  uint64_t operator()(uint64_t position) const;

  uint64_t samples() const { return samples_; }

private:
  SampleOrder(uint64_t samples, uint64_t seed, bool shuffle);
  uint64_t permute(uint64_t value, uint64_t epoch) const;

  uint64_t samples_;
  uint64_t seed_;
  bool shuffle_;
  int leftBits_;
  int rightBits_;
};

} // namespace trainc
