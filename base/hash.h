// XXH3-64 of bytes, one-shot or streaming.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <xxhash.h>

namespace trainc {

/// XXH3-64 of `bytes`, seed 0.
inline uint64_t xxh3(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

/// Chunk size for loops that hash bytes and then copy or write them while they are still in the cache; a
/// multiple of every element size.
inline constexpr size_t kHashChunkBytes = size_t{1} << 18;

/// Streaming form of xxh3(): equal to the hash of the concatenation of all pieces.
class StreamHash {
public:
  StreamHash() { XXH3_64bits_reset(state_.get()); }

  void update(std::span<const std::byte> bytes) {
    XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
  }
  uint64_t digest() const { return XXH3_64bits_digest(state_.get()); }

private:
  struct Free {
    void operator()(XXH3_state_t *state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_{XXH3_createState()};
};

} // namespace trainc
