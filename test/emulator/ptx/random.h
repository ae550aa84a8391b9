// Random numbers for the order of blocks and warps, identical on every machine.
#pragma once

#include <cstdint>

namespace trainc::emulator {

/// SplitMix64.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t count) { return next() % count; }

private:
  uint64_t state_;
};

} // namespace trainc::emulator
