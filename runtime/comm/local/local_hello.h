// What ranks that meet through a socket say to each other.
#pragma once

#include "runtime/base/hash.h"
#include "runtime/comm/local/local_group.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace trainc {

/// What a rank says when it comes; behind it, why it cannot take part, if so.
struct Hello {
  uint32_t rank, ranks;
  uint64_t launch; ///< see launchOf()
  uint64_t fingerprint, bytesPerRank;
};

/// What rank 0 answers: this with the memory, or why the ranks cannot run, behind its exit code.
inline constexpr std::string_view kWelcome = "welcome";
inline constexpr size_t kLongestText = 1000;

inline uint64_t checksum(const std::string &text) { return xxh3(std::as_bytes(std::span(text))); }

/// 0 where a rank knows nothing of the launch.
inline uint64_t launchOf(const LocalPlace &place) {
  return place.launch.empty() ? 0 : checksum(place.launch);
}

} // namespace trainc
