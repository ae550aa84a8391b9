// What tells a file of data from others, whatever it is called and wherever it lies.
#pragma once

#include <cstdint>
#include <optional>

namespace trainc {

struct FileIdentity {
  uint64_t bytes = 0;  ///< its size
  uint64_t blocks = 0; ///< XXH3-64 of blocks that are spread over it, from the first to the last
  std::optional<uint64_t> content = {}; ///< XXH3-64 of all of it, if that is recorded beside it

  bool operator==(const FileIdentity &) const = default;

  /// Whether they may be of the same file: all that both know is equal.
  bool matches(const FileIdentity &other) const {
    return bytes == other.bytes && blocks == other.blocks &&
           (!content || !other.content || *content == *other.content);
  }
};

} // namespace trainc
