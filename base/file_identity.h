// Identity of a data file, independent of its name and location.
#pragma once

#include <cstdint>
#include <optional>

namespace trainc {

struct FileIdentity {
  uint64_t bytes = 0;  ///< file size
  uint64_t blocks = 0; ///< XXH3-64 of sample blocks, evenly spread from the first block to the last
  std::optional<uint64_t> content =
      {}; ///< XXH3-64 of the whole content, if a file beside it records the hash

  bool operator==(const FileIdentity &) const = default;

  /// Whether both may describe the same file: every hash that both hold is equal.
  bool matches(const FileIdentity &other) const {
    return bytes == other.bytes && blocks == other.blocks &&
           (!content || !other.content || *content == *other.content);
  }
};

} // namespace trainc
