// What a checkpoint's files must contain.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace trainc {

/// Bytes of a tensor that have a checksum of their own: what ranks write apart, and read apart, is checked
/// apart.
inline constexpr uint64_t kChecksumBlockBytes = uint64_t{1} << 20;

/// Of one file, for verification when it is read. Checksums are XXH3-64, seed 0.
struct FileChecksums {
  uint64_t bytes = 0;  ///< size of the file
  uint64_t header = 0; ///< of all but tensors: a safetensors file's length and JSON; else of the whole file
  /// A tensor's checksums are those of each so many of its bytes, the last of what is left.
  uint64_t blockBytes = kChecksumBlockBytes;
  std::map<std::string, std::vector<uint64_t>> tensors = {};

  /// Instead of `blockBytes`: a tensor has one checksum.
  static constexpr uint64_t kWholeTensors = std::numeric_limits<uint64_t>::max();

  bool operator==(const FileChecksums &) const = default;
};

/// How many blocks that many bytes are.
inline uint64_t blockCount(uint64_t bytes, uint64_t blockBytes) {
  return bytes / blockBytes + (bytes % blockBytes != 0);
}

} // namespace trainc
