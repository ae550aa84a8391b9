// Pieces of a vocabulary that a text begins with.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace trainc {

/// Maximum bytes of a piece: it bounds the time that a byte of text takes.
inline constexpr size_t kMaxPieceBytes = 4096;

/// A trie of pieces and their ids. Nodes are numbered by depth, so that the children of a node are
/// consecutive.
class PieceTrie {
public:
  using Piece = std::pair<std::string_view, uint32_t>;

  /// An empty piece is never found. Of equal pieces one is found.
  explicit PieceTrie(std::vector<Piece> pieces = {});

  /// Calls `onPiece(bytes, id)` for each piece that `text` begins with, shortest first.
  template <typename OnPiece> void forEachPrefix(std::string_view text, const OnPiece &onPiece) const;

private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // By node; the root is 0.
  std::vector<uint32_t> firstChild_; ///< has one more entry, so that node + 1 gives the end of the children
  std::vector<uint32_t> ids_;        ///< of the piece that ends there, or kNone
  std::vector<char> bytes_;          ///< the last byte
};

template <typename OnPiece>
void PieceTrie::forEachPrefix(std::string_view text, const OnPiece &onPiece) const {
  uint32_t node = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const uint32_t first = firstChild_[node], count = firstChild_[node + 1] - first;
    const char *children = bytes_.data() + first;
    const void *found = count > 0 ? std::memchr(children, text[at], count) : nullptr;
    if (!found)
      return;
    node = first + static_cast<uint32_t>(static_cast<const char *>(found) - children);
    if (ids_[node] != kNone)
      onPiece(at + 1, ids_[node]);
  }
}

} // namespace trainc
