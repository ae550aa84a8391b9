#include "tools/report/occupancy.h"

#include "plan/facts/uses.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainc::report {

namespace {

/// An access to bytes [begin, end) of an arena, and the moment until which it needs them.
struct Touch {
  int64_t begin, end;
  uint32_t buffer, moment, until;
};

/// Content of one arena while an entry runs.
class ArenaBytes {
public:
  ArenaBytes(const std::vector<Moment> &moments, std::vector<Held> &values)
      : moments_(moments), values_(values) {}

  void read(const Touch &touch) {
    for (auto piece = firstEndingAfter(touch.begin); piece != pieces_.end() && piece->first < touch.end;
         ++piece)
      if (piece->second.buffer == touch.buffer) {
        use(piece->second, touch);
        piece->second.isRead = true;
      }
  }

  void write(const Touch &touch) {
    int64_t free = touch.begin; // bytes before this position have a value
    for (auto piece = firstEndingAfter(touch.begin); piece != pieces_.end() && piece->first < touch.end;) {
      if (isContinued(piece->second, touch)) {
        use(piece->second, touch);
        piece->second.isRead = false;
        fill(free, piece->first, touch);
        free = std::max(free, piece->second.end);
        ++piece;
      } else {
        piece = cut(piece, touch);
      }
    }
    fill(free, touch.end, touch);
  }

  void finish() {
    for (const auto &[begin, piece] : pieces_)
      emit(begin, piece.end, piece, piece.until);
    pieces_.clear();
  }

private:
  struct Piece {
    int64_t end;
    uint32_t buffer;
    uint32_t begin;      ///< first write
    uint32_t touched;    ///< latest access
    uint32_t last;       ///< access that ends last
    uint32_t until;      ///< moment from which the bytes are free
    bool isRead = false; ///< since it was written
  };
  using Pieces = std::map<int64_t, Piece>; ///< keyed by first byte

  /// The first piece that ends after a position.
  Pieces::iterator firstEndingAfter(int64_t position) {
    auto piece = pieces_.upper_bound(position);
    if (piece != pieces_.begin() && std::prev(piece)->second.end > position)
      --piece;
    return piece;
  }

  void use(Piece &piece, const Touch &touch) const {
    piece.touched = touch.moment;
    piece.until = std::max(piece.until, touch.until);
    if (moments_[touch.moment].end >= moments_[piece.last].end)
      piece.last = touch.moment;
  }

  /// Whether a write continues a value: it updates bytes that it reads, or adds to bytes that were not read
  /// yet.
  static bool isContinued(const Piece &piece, const Touch &touch) {
    return piece.buffer == touch.buffer && (!piece.isRead || piece.touched == touch.moment);
  }

  void fill(int64_t begin, int64_t end, const Touch &touch) {
    if (begin < end)
      pieces_.insert_or_assign(
          begin, Piece{end, touch.buffer, touch.moment, touch.moment, touch.moment, touch.until});
  }

  /// Ends the value of a piece in the accessed bytes; returns the next piece.
  Pieces::iterator cut(Pieces::iterator at, const Touch &touch) {
    const auto [begin, piece] = *at;
    const auto next = pieces_.erase(at);
    emit(std::max(begin, touch.begin), std::min(piece.end, touch.end), piece,
         std::min(piece.until, touch.moment));
    if (begin < touch.begin) {
      Piece before = piece;
      before.end = touch.begin;
      pieces_.emplace(begin, before);
    }
    if (piece.end > touch.end)
      return pieces_.emplace(touch.end, piece).first;
    return next;
  }

  void emit(int64_t begin, int64_t end, const Piece &piece, uint32_t until) {
    if (begin < end && piece.begin < until)
      values_.push_back({piece.buffer, static_cast<uint64_t>(begin), static_cast<uint64_t>(end - begin),
                         piece.begin, until, std::min(piece.last, until)});
  }

  const std::vector<Moment> &moments_;
  std::vector<Held> &values_;
  Pieces pieces_;
};

/// An entry's accesses to one arena, in execution order.
class ArenaWalk {
public:
  ArenaWalk(const fb::Plan &plan, const std::vector<Moment> &moments, uint32_t arena)
      : plan_(plan), moments_(moments), arena_(arena) {}

  void run(std::vector<Held> &values) const {
    ArenaBytes bytes(moments_, values);
    for (uint32_t moment = 0; moment < moments_.size(); ++moment) {
      forEach(moment, [&](const Touch &touch, const facts::Use &use) {
        if (use.reads)
          bytes.read(touch);
      });
      forEach(moment, [&](const Touch &touch, const facts::Use &use) {
        if (use.writes)
          bytes.write(touch);
      });
    }
    bytes.finish();
  }

private:
  template <typename Visitor> void forEach(uint32_t index, Visitor visit) const {
    const Moment &moment = moments_[index];
    const auto [loopBegin, loopEnd] = loopAround(index);
    facts::forEachUse(plan_, *moment.instruction, moment.iterations, [&](const facts::Use &use) {
      const uint32_t buffer = use.range.operand->buffer();
      const fb::Buffer &held = *plan_.buffers()->Get(buffer);
      const uint64_t bytes = hullOf(use);
      if (held.arena() != arena_ || bytes == 0)
        return;
      const bool lasts = moment.inLoop && isReadFirst(buffer, loopBegin, loopEnd);
      const auto begin = static_cast<int64_t>(held.offset() + use.range.operand->offset());
      const int64_t travel = (static_cast<int64_t>(moment.iterations) - 1) * use.range.operand->loop_stride();
      visit(Touch{begin + std::min<int64_t>(travel, 0),
                  begin + std::max<int64_t>(travel, 0) + static_cast<int64_t>(bytes), buffer, index,
                  lasts ? std::max(moment.doneBefore, loopEnd) : moment.doneBefore},
            use);
    });
  }

  /// Extent of an operand from its first byte; 0 if another run of the same operand already covered it. Gaps
  /// between rows of a library operand belong to its buffer.
  static uint64_t hullOf(const facts::Use &use) {
    if (use.numbers.rowBytes == 0)
      return use.range.bytes;
    return use.range.shift == 0 ? use.numbers.padded().hull() : 0;
  }

  /// The range of moments of the loop that contains a moment.
  std::pair<uint32_t, uint32_t> loopAround(uint32_t index) const {
    if (!moments_[index].inLoop)
      return {index, index + 1};
    uint32_t begin = index - moments_[index].inner, end = index;
    while (end < moments_.size() && moments_[end].index == moments_[index].index)
      ++end;
    return {begin, end};
  }

  /// Whether a loop's body reads a buffer before writing it: then each iteration reads the previous content.
  bool isReadFirst(uint32_t buffer, uint32_t begin, uint32_t end) const {
    for (uint32_t index = begin; index < end; ++index) {
      bool reads = false, writes = false;
      facts::forEachUse(plan_, *moments_[index].instruction, 1, [&](const facts::Use &use) {
        if (use.range.operand->buffer() == buffer) {
          reads |= use.reads;
          writes |= use.writes;
        }
      });
      if (reads || writes)
        return reads;
    }
    return false;
  }

  const fb::Plan &plan_;
  const std::vector<Moment> &moments_;
  uint32_t arena_;
};

ArenaPeak peakOf(uint32_t arena, const std::vector<Held> &values, size_t from, size_t moments) {
  ArenaPeak peak{.arena = arena};
  std::vector<int64_t> change(moments + 1, 0);
  for (size_t i = from; i < values.size(); ++i) {
    change[values[i].begin] += static_cast<int64_t>(values[i].bytes);
    change[values[i].end] -= static_cast<int64_t>(values[i].bytes);
    peak.reach = std::max(peak.reach, values[i].offset + values[i].bytes);
  }
  int64_t held = 0;
  for (uint32_t moment = 0; moment < moments; ++moment) {
    held += change[moment];
    if (held > static_cast<int64_t>(peak.held)) {
      peak.held = static_cast<uint64_t>(held);
      peak.moment = moment;
    }
  }
  return peak;
}

} // namespace

Occupancy occupancyOf(const fb::Plan &plan, const std::vector<Moment> &moments) {
  Occupancy result;
  for (uint32_t arena = 0; arena < plan.arenas()->size(); ++arena) {
    if (plan.arenas()->Get(arena)->persistent())
      continue;
    const size_t from = result.values.size();
    ArenaWalk(plan, moments, arena).run(result.values);
    if (result.values.size() > from)
      result.peaks.push_back(peakOf(arena, result.values, from, moments.size()));
  }
  std::ranges::sort(result.values, {},
                    [](const Held &each) { return std::tuple(each.begin, each.offset, each.buffer); });
  return result;
}

} // namespace trainc::report
