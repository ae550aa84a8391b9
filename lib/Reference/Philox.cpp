#include "lib/Reference/Philox.h"

namespace trainc::reference {

static std::array<uint32_t, 4> philoxRound(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  uint64_t first = uint64_t(0xD2511F53) * counter[0], second = uint64_t(0xCD9E8D57) * counter[2];
  return {uint32_t(second >> 32) ^ counter[1] ^ key[0], uint32_t(second),
          uint32_t(first >> 32) ^ counter[3] ^ key[1], uint32_t(first)};
}

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    counter = philoxRound(counter, key);
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

} // namespace trainc::reference
