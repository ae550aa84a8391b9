// A map from byte ranges of an arena to their content.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>

namespace trainc {

/// Bytes [begin, end) of an arena.
struct Span {
  int64_t begin, end;
};

/// Content of each byte of an arena; a default `Content` at first. Adjacent ranges of equal content are
/// merged.
template <typename Content> class Pieces {
public:
  /// Calls `visit(Content &)` for each piece of the span; `visit` may change the content.
  template <typename Visitor> void update(Span span, Visitor visit) {
    if (span.begin >= span.end)
      return;
    const auto first = cut(span.begin), last = cut(span.end);
    for (auto piece = first; piece != last; ++piece)
      visit(piece->second);
    join(first, last);
  }

  /// Calls `visit(Span, const Content &)` for each piece of the span.
  template <typename Visitor> void forEach(Span span, Visitor visit) const {
    if (span.begin >= span.end)
      return;
    for (auto piece = std::prev(pieces_.upper_bound(span.begin));
         piece != pieces_.end() && piece->first < span.end; ++piece) {
      const auto next = std::next(piece);
      visit(Span{std::max(piece->first, span.begin),
                 next == pieces_.end() ? span.end : std::min(next->first, span.end)},
            piece->second);
    }
  }

private:
  using ByBegin = std::map<int64_t, Content>; ///< keyed by first byte; a piece ends where the next one begins

  /// Splits a piece so that one begins at `position`.
  typename ByBegin::iterator cut(int64_t position) {
    const auto piece = std::prev(pieces_.upper_bound(position));
    return piece->first == position ? piece : pieces_.emplace_hint(std::next(piece), position, piece->second);
  }

  /// Merges adjacent pieces of equal content, from the piece before `first` to `last`.
  void join(typename ByBegin::iterator first, typename ByBegin::iterator last) {
    for (auto piece = first;;) {
      const auto next = std::next(piece);
      const bool isLast = piece == last;
      if (piece != pieces_.begin() && std::prev(piece)->second == piece->second)
        pieces_.erase(piece);
      if (isLast)
        return;
      piece = next;
    }
  }

  ByBegin pieces_{{std::numeric_limits<int64_t>::min(), Content()}};
};

} // namespace trainc
