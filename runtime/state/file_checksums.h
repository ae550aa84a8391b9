// Checksums of a checkpoint's files, and their verification.
#pragma once

#include "base/hash.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace trainc {

/// Bytes per checksum block of a tensor, so that ranks can write, read and verify their parts independently.
inline constexpr uint64_t kChecksumBlockBytes = uint64_t{1} << 20;

/// Checksums of one file, verified when it is read: XXH3-64, seed 0.
struct FileChecksums {
  uint64_t bytes = 0; ///< size of the file
  /// Hash of all bytes except tensors: a safetensors file's length and JSON; otherwise of the whole file.
  uint64_t header = 0;
  /// Bytes of a tensor per checksum; the last block may be shorter.
  uint64_t blockBytes = kChecksumBlockBytes;
  std::map<std::string, std::vector<uint64_t>> tensors = {};

  /// Value of `blockBytes` if each tensor has a single checksum.
  static constexpr uint64_t kWholeTensors = std::numeric_limits<uint64_t>::max();

  bool operator==(const FileChecksums &) const = default;
};

/// Number of blocks in `bytes`.
inline uint64_t blockCount(uint64_t bytes, uint64_t blockBytes) {
  return bytes / blockBytes + (bytes % blockBytes != 0);
}

/// Verifies a tensor's bytes piece by piece. Without recorded checksums every tensor passes.
class BlockVerifier {
public:
  /// For the tensor `name`; `recorded` must outlive the verifier.
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

  /// Whether all bytes passed so far match all checksums. Call it once, after the last piece.
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
  uint64_t blockBytes_, left_;       ///< block size, and bytes missing from the current block
  std::unique_ptr<StreamHash> hash_; ///< of the current block, once it has begun
  size_t blocks_ = 0;
  bool good_ = true;
};

} // namespace trainc
