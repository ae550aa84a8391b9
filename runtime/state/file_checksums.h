// What a checkpoint's files must contain, and the check that they do.
#pragma once

#include "runtime/base/hash.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
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

/// Takes a tensor's bytes piece by piece. Without checksums every tensor is good.
class BlockVerifier {
public:
  /// Of the tensor `name`; `recorded` must outlive the verifier.
  BlockVerifier(const FileChecksums &recorded, const std::string &name) : left_(recorded.blockBytes) {
    const auto found = recorded.tensors.find(name);
    expected_ = found == recorded.tensors.end() ? nullptr : &found->second;
    blockBytes_ = recorded.blockBytes;
  }

  void update(std::span<const std::byte> bytes) {
    while (expected_ && !bytes.empty()) {
      if (!hash_)
        hash_ = std::make_unique<StreamHash>();
      const auto piece = bytes.first(static_cast<size_t>(std::min<uint64_t>(bytes.size(), left_)));
      hash_->update(piece);
      left_ -= piece.size();
      if (left_ == 0)
        endBlock();
      bytes = bytes.subspan(piece.size());
    }
  }

  /// Whether what came has the checksums, all of them; no bytes are good. Call it once, after the last piece.
  bool finish() {
    if (hash_)
      endBlock();
    return blocks_ == 0 || (good_ && blocks_ == expected_->size());
  }

private:
  void endBlock() {
    good_ &= blocks_ < expected_->size() && (*expected_)[blocks_] == hash_->digest();
    ++blocks_;
    hash_.reset();
    left_ = blockBytes_;
  }

  const std::vector<uint64_t> *expected_;
  uint64_t blockBytes_, left_;       ///< bytes of a block, and those that the block at hand still lacks
  std::unique_ptr<StreamHash> hash_; ///< of the block at hand, once it has begun
  size_t blocks_ = 0;
  bool good_ = true;
};

} // namespace trainc
