#include "runtime/data/tokenizer/piece_trie.h"

#include <algorithm>

namespace trainc {

PieceTrie::PieceTrie(std::vector<Piece> pieces) {
  std::ranges::sort(pieces);
  struct Range {
    size_t begin, end, depth; ///< of the pieces that begin with the bytes of a node
  };
  std::vector<Range> ranges = {{0, pieces.size(), 0}};
  ids_ = {kNone};
  bytes_ = {0};
  for (size_t node = 0; node < ranges.size(); ++node) {
    auto [begin, end, depth] = ranges[node];
    for (; begin < end && pieces[begin].first.size() == depth; ++begin)
      ids_[node] = pieces[begin].second;
    firstChild_.push_back(static_cast<uint32_t>(ranges.size()));
    while (begin < end) {
      const char byte = pieces[begin].first[depth];
      const size_t first = begin;
      while (begin < end && pieces[begin].first[depth] == byte)
        ++begin;
      ranges.push_back({first, begin, depth + 1});
      ids_.push_back(kNone);
      bytes_.push_back(byte);
    }
  }
  firstChild_.push_back(static_cast<uint32_t>(ranges.size()));
}

} // namespace trainc
