// Byte-exact analysis of loops. Each operand accesses a byte in one interval of iterations: in all of them if
// it has no loop stride, else while it passes over the byte. Between two neighbouring ends of such intervals,
// all iterations do the same to the byte. The second iteration begins with the content that the first has
// left, and so does every later one, so two iterations represent all.
//
// Bytes with the same history form a piece. If all operands with a loop stride have the same one, histories
// repeat with that period, except near the ends of the accessed spans. The work therefore does not grow with
// the number of iterations.
#include "plan/facts/library_calls.h"
#include "plan/verify/flow.h"

#include <algorithm>

namespace trainc::verify {

namespace {

/// Maximum number of pieces analysed per loop.
constexpr int64_t kMaxPieces = int64_t{1} << 16;

int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t ceilDivide(int64_t a, int64_t b) { return -floorDivide(-a, b); }

/// Iterations [begin, end).
struct Iterations {
  int64_t begin, end;
};

/// Bytes of an access: `bytes` from `begin` on, shifted by `stride` in each iteration.
struct Track {
  const Access *access;
  int64_t begin, bytes, stride, iterations;

  /// Smallest span that contains the bytes of all iterations.
  Span hull() const {
    const int64_t travel = (iterations - 1) * stride;
    return {begin + std::min<int64_t>(travel, 0), begin + std::max<int64_t>(travel, 0) + bytes};
  }

  /// The span without the bytes accessed in the first or last two iterations, and without their neighbours.
  /// May be empty.
  Span middle() const {
    const int64_t margin = bytes + 2 * std::abs(stride);
    return {hull().begin + margin, hull().end - margin};
  }

  /// Iterations in which a byte is accessed.
  Iterations at(int64_t byte) const {
    const int64_t ahead = byte - begin;
    if (stride == 0)
      return {0, ahead >= 0 && ahead < bytes ? iterations : 0};
    const int64_t first = stride > 0 ? ceilDivide(ahead - bytes + 1, stride) : ceilDivide(-ahead, -stride);
    const int64_t last = stride > 0 ? floorDivide(ahead, stride) : floorDivide(bytes - 1 - ahead, -stride);
    return {std::max<int64_t>(first, 0), std::min(last + 1, iterations)};
  }
};

class LoopFlow {
public:
  LoopFlow(const FlowStep &loop, uint32_t rank, Written &written) : written_(written) {
    for (const Access &each : loop.accesses)
      tracks_.push_back({&each, each.beginOn(rank), static_cast<int64_t>(each.use.range.bytes),
                         each.use.range.operand->loop_stride(), static_cast<int64_t>(loop.iterations)});
  }

  std::optional<Fault> run(Span window) {
    const std::vector<int64_t> boundaries = findBoundaries(window);
    for (size_t i = 1; i < boundaries.size(); ++i)
      if (const auto fault = section({boundaries[i - 1], boundaries[i]}))
        return fault;
    return std::nullopt;
  }

private:
  using Tracks = std::vector<const Track *>;

  /// Ends of sections. All bytes of a section have the same content before the loop, and no hull() or
  /// middle() of a track begins or ends within a section.
  std::vector<int64_t> findBoundaries(Span window) const {
    std::vector<int64_t> boundaries;
    const auto add = [&](Span span) {
      if (span.begin < span.end)
        for (const int64_t boundary : {span.begin, span.end})
          boundaries.push_back(std::clamp(boundary, window.begin, window.end));
    };
    for (const Track &track : tracks_) {
      add(track.hull());
      if (track.stride != 0)
        add(track.middle());
    }
    std::ranges::sort(boundaries);
    if (!boundaries.empty())
      written_.forEach({boundaries.front(), boundaries.back()},
                       [&](Span span, const Content &) { add(span); });
    std::ranges::sort(boundaries);
    boundaries.erase(std::ranges::unique(boundaries).begin(), boundaries.end());
    return boundaries;
  }

  std::optional<Fault> section(Span section) {
    Tracks touching;
    for (const Track &track : tracks_)
      if (const Span hull = track.hull(); hull.begin <= section.begin && section.end <= hull.end)
        touching.push_back(&track);
    Content before;
    written_.forEach({section.begin, section.begin + 1},
                     [&](Span, const Content &content) { before = content; });
    if (std::ranges::any_of(touching, [](const Track *track) { return track->access->writes; }))
      return follow(section, touching, before);
    // Readers do not change content, so each is checked alone.
    for (const Track *reader : touching)
      if (const auto fault = follow(section, {reader}, before))
        return fault;
    return std::nullopt;
  }

  /// Period in bytes of the histories; 0 if there is none.
  static int64_t findPeriod(Span section, const Tracks &tracks) {
    int64_t period = 0;
    for (const Track *track : tracks) {
      if (track->stride == 0)
        continue;
      const Span middle = track->middle();
      if ((period != 0 && track->stride != period) || middle.begin > section.begin ||
          section.end > middle.end)
        return 0;
      period = track->stride;
    }
    return std::abs(period);
  }

  /// `before` is the content of all bytes of the section when the loop begins.
  std::optional<Fault> follow(Span section, const Tracks &tracks, const Content &before) {
    const int64_t bytes = section.end - section.begin, period = findPeriod(section, tracks);
    const int64_t length = period == 0 ? bytes : std::min(bytes, period);
    if (!findCuts({section.begin, section.begin + length}, tracks))
      return Fault{tracks.front()->access, Fault::Scattered};
    std::vector<Content> contents;
    for (size_t i = 1; i < cuts_.size(); ++i) {
      contents.push_back(before);
      if (const auto fault = history(cuts_[i - 1], tracks, contents.back()))
        return fault;
    }
    if (store(section, length, contents, before))
      return std::nullopt;
    return Fault{tracks.front()->access, Fault::Scattered};
  }

  /// Finds the offsets at which the set of accessing iterations changes. Returns whether they are few enough.
  bool findCuts(Span span, const Tracks &tracks) {
    cuts_ = {span.begin, span.end};
    for (const Track *track : tracks) {
      const int64_t stride = std::abs(track->stride);
      if (stride == 0)
        continue;
      pieces_ += 2 * ((span.end - span.begin) / stride);
      if (pieces_ > kMaxPieces)
        return false;
      for (const int64_t end : {track->begin, track->begin + track->bytes})
        for (int64_t cut = end + ceilDivide(span.begin - end, stride) * stride; cut < span.end; cut += stride)
          cuts_.push_back(cut);
    }
    std::ranges::sort(cuts_);
    cuts_.erase(std::ranges::unique(cuts_).begin(), cuts_.end());
    return true;
  }

  /// Applies all accesses of the loop to a byte with the content `content`.
  std::optional<Fault> history(int64_t byte, const Tracks &tracks, Content &content) {
    std::vector<Iterations> touched;
    std::vector<int64_t> changes;
    for (const Track *track : tracks) {
      touched.push_back(track->at(byte));
      if (touched.back().begin < touched.back().end)
        changes.insert(changes.end(), {touched.back().begin, touched.back().end});
    }
    std::ranges::sort(changes);
    for (size_t i = 1; i < changes.size(); ++i)
      for (int64_t pass = 0; pass < std::min<int64_t>(changes[i] - changes[i - 1], 2); ++pass)
        for (size_t t = 0; t < tracks.size(); ++t)
          if (touched[t].begin <= changes[i - 1] && changes[i] <= touched[t].end)
            if (const auto fault = apply(*tracks[t]->access, content))
              return fault;
    return std::nullopt;
  }

  /// Stores the content of the pieces between the cuts, repeated every `length` bytes. Pieces with unchanged
  /// content are skipped: other readers may have marked them.
  bool store(Span section, int64_t length, const std::vector<Content> &contents, const Content &before) {
    const auto set = [&](Span span, const Content &content) {
      if (content != before)
        written_.update(span, [&](Content &held) { held = content; });
    };
    if (std::ranges::all_of(contents, [&](const Content &each) { return each == contents.front(); })) {
      set(section, contents.front());
      return true;
    }
    for (int64_t shift = 0; shift < section.end - section.begin; shift += length) {
      pieces_ += static_cast<int64_t>(contents.size());
      if (pieces_ > kMaxPieces)
        return false;
      for (size_t i = 0; i < contents.size(); ++i)
        set({cuts_[i] + shift, std::min(cuts_[i + 1] + shift, section.end)}, contents[i]);
    }
    return true;
  }

  Written &written_;
  std::vector<Track> tracks_;
  std::vector<int64_t> cuts_; ///< of the section
  int64_t pieces_ = 0;        ///< so far
};

} // namespace

/// Layout of the rows that a library call writes, if some of the bytes it covers are padding.
PaddedRows paddedRowsOf(const Use &use) {
  const StridedBytes &rows = use.numbers;
  return rows.padded().rowBytes > rows.rowBytes ? PaddedRows{rows.rowBytes, rows.rowStride} : PaddedRows();
}

/// Whether a library call would read the padding of rows `written` as numbers. Kernels cover padding, but do
/// not use it.
bool readsPadding(const Use &use, const PaddedRows &written) {
  const StridedBytes &rows = use.numbers;
  return written.distance != 0 &&
         (rows.rowBytes > written.bytes || (rows.rows > 1 && rows.rowStride % written.distance != 0));
}

std::optional<Fault> apply(const Access &access, Content &content) {
  const uint32_t buffer = access.buffer();
  if (!access.writes) {
    if (!content)
      return access.mayFind ? std::nullopt : std::optional(Fault{&access, Fault::Unwritten});
    if (content->buffer != buffer)
      return Fault{&access, Fault::Overwritten, content->buffer};
    if (readsPadding(access.use, content->rows))
      return Fault{&access, Fault::Padding};
    content->read = true;
    return std::nullopt;
  }
  const bool computes =
      access.instruction->operation_type() == fb::Operation::Launch || isLibraryCall(*access.instruction);
  const bool exact = !computes && !access.use.isWorkspace;
  if (content && content->buffer == buffer && !content->read && (exact || content->exact))
    return Fault{&access, Fault::Unread};
  content = Value{.buffer = buffer, .exact = exact, .rows = paddedRowsOf(access.use)};
  if (access.use.isWorkspace)
    content.reset(); // no later read as a number is valid
  return std::nullopt;
}

std::optional<Fault> applyLoop(const FlowStep &loop, uint32_t rank, Span window, Written &written) {
  return LoopFlow(loop, rank, written).run(window);
}

} // namespace trainc::verify
