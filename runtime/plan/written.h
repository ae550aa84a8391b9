// Who wrote the bytes of an arena last. Internal to runtime/plan.
#pragma once

#include "runtime/plan/operand.h"

#include <iterator>
#include <limits>
#include <map>
#include <optional>

namespace trainc::verify {

/// How a library call wrote rows with padding behind them, in bytes. None elsewhere.
struct PaddedRows {
  uint64_t bytes = 0, distance = 0;
  bool operator==(const PaddedRows &) const = default;
};

/// What the bytes of a piece hold.
struct Value {
  uint32_t buffer; ///< through which they were written
  bool exact;      ///< every byte was: by a copy, a zeroing or a collective; what computes may leave some out
  bool read = false; ///< since then
  PaddedRows rows = {};
  bool operator==(const Value &) const = default;
};

/// None where nobody has written.
using Content = std::optional<Value>;

/// An arena's bytes in pieces of one content each.
class Written {
public:
  /// Calls `visit(Content &)`, which may change it, for each piece of the span.
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
  using Pieces = std::map<int64_t, Content>; ///< by their first byte, up to that of the next one

  /// Makes a position the first byte of a piece.
  Pieces::iterator cut(int64_t position) {
    const auto piece = std::prev(pieces_.upper_bound(position));
    return piece->first == position ? piece : pieces_.emplace_hint(std::next(piece), position, piece->second);
  }

  /// Makes neighbours of the same content one, from the piece before `first` to `last`.
  void join(Pieces::iterator first, Pieces::iterator last) {
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

  Pieces pieces_{{std::numeric_limits<int64_t>::min(), std::nullopt}};
};

} // namespace trainc::verify
