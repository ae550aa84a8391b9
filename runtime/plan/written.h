// Who wrote the bytes of an arena last. Internal to runtime/plan.
#pragma once

#include "runtime/plan/operand.h"

#include <iterator>
#include <map>

namespace trainc::verify {

/// What the bytes of a piece hold.
struct Value {
  uint32_t buffer;   ///< through which they were written
  bool exact;        ///< every byte was: by a copy, a zeroing or a collective; a kernel may leave some out
  bool read = false; ///< since then
};

/// An arena's bytes in pieces of one value each.
class Written {
public:
  void write(Span span, Value value) {
    if (span.begin >= span.end)
      return;
    cut(span);
    pieces_.erase(pieces_.lower_bound(span.begin), pieces_.lower_bound(span.end));
    pieces_[span.begin] = {span.end, value};
  }

  /// Takes note that the bytes are read.
  void read(Span span) {
    if (span.begin >= span.end)
      return;
    cut(span);
    for (auto piece = pieces_.lower_bound(span.begin); piece != pieces_.end() && piece->first < span.end;
         ++piece)
      piece->second.value.read = true;
  }

  /// Calls `visit(const Value *)` for each piece of the span, with null where nobody has written.
  template <typename Visitor> void forEach(Span span, Visitor visit) const {
    auto piece = pieces_.upper_bound(span.begin);
    if (piece != pieces_.begin() && std::prev(piece)->second.end > span.begin)
      --piece;
    for (int64_t position = span.begin; position < span.end; ++piece) {
      const bool written = piece != pieces_.end() && piece->first < span.end;
      if (!written || piece->first > position)
        visit(static_cast<const Value *>(nullptr));
      if (!written)
        return;
      visit(&piece->second.value);
      position = piece->second.end;
    }
  }

private:
  struct Piece {
    int64_t end;
    Value value;
  };

  /// Makes the span's ends borders of pieces.
  void cut(Span span) {
    for (const int64_t position : {span.begin, span.end}) {
      auto piece = pieces_.lower_bound(position);
      if (piece == pieces_.begin() || std::prev(piece)->second.end <= position)
        continue;
      --piece;
      pieces_[position] = piece->second;
      piece->second.end = position;
    }
  }

  std::map<int64_t, Piece> pieces_; ///< by their first byte
};

} // namespace trainc::verify
