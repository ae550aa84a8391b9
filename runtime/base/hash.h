// The checksum of the runtime's files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <xxhash.h>

namespace trainc {

/// XXH3-64 of `bytes`, seed 0.
inline uint64_t xxh3(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

} // namespace trainc
