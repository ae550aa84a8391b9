// Philox4x32-10: a counter-based random number generator.
#pragma once

#include <array>
#include <cstdint>

namespace trainc {

/// 128 random bits at `counter` in the stream of `key`, as in Salmon et al., "Parallel random numbers: as
/// easy as 1, 2, 3" (SC 2011), with 10 rounds.
constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9; // the golden ratio
    key[1] += 0xBB67AE85; // sqrt(3) - 1
  }
  return counter;
}

} // namespace trainc
