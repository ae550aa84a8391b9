// Compares a tensor that is read from its beginning to its end with the checksums of its blocks.
#pragma once

#include "runtime/base/stream_hash.h"
#include "runtime/state/file_checksums.h"

#include <algorithm>
#include <memory>

namespace trainc {

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
