// How instructions change what bytes hold. Internal to runtime/plan.
#pragma once

#include "runtime/plan/uses.h"
#include "runtime/plan/written.h"

#include <optional>
#include <vector>

namespace trainc::verify {

/// An operand that is read, or written. One that is both stands twice.
struct Access {
  const fb::Instruction *instruction;
  Use use;
  bool writes;
  uint32_t inner; ///< in a loop: the place of the instruction in the body
  int64_t begin;  ///< in the arena, in the first iteration, on the rank with the first place
  bool mayFind;   ///< whether it may read what was there before the entry

  uint32_t buffer() const { return use.range.operand->buffer(); }
  int64_t bytes() const { return static_cast<int64_t>(use.range.bytes); }
  /// By how much it begins later on the rank with the next place.
  int64_t rankStride() const { return static_cast<int64_t>(use.range.operand->rank_stride()); }
  /// Where it begins on the rank with a place.
  int64_t beginAt(uint32_t place) const { return begin + place * rankStride(); }
  /// From the first byte to the last in all iterations, on ranks with places below `places`.
  Span hull(uint32_t places) const;
};

/// What an instruction of an entry, or a loop in all its iterations, does to one arena. Accesses are in the
/// order in which they happen: what one instruction reads is before what it writes.
struct FlowStep {
  uint32_t index;
  uint64_t iterations;
  std::vector<Access> accesses;
};

/// An address that depends on the place: `begin` at the first, `stride` further at each next one.
struct Line {
  int64_t begin, stride;
  auto operator<=>(const Line &) const = default;
};

/// Places below `places`.
std::vector<uint32_t> allPlaces(uint32_t places);

/// Places below `places`, the first among them, that stand for all: between two of them, the lines are in the
/// order in which they are at the first of these.
std::vector<uint32_t> differingPlaces(std::vector<Line> lines, uint32_t places);

/// What is wrong with an access.
struct Fault {
  enum Kind : uint8_t {
    Unwritten,   ///< it reads what nobody has written
    Overwritten, ///< it reads what was written through another buffer
    Padding,     ///< it takes padding for numbers
    Unread,      ///< it destroys what nobody has read
    Scattered    ///< too many pieces to follow
  };
  const Access *access;
  Kind kind;
  uint32_t writer = 0; ///< Overwritten: through which buffer
};

/// What an access does to a byte.
std::optional<Fault> apply(const Access &access, Content &content);

/// What a loop of at least two iterations does to the bytes `window` of an arena, on the rank with a place.
/// Exact for each byte.
std::optional<Fault> applyLoop(const FlowStep &loop, uint32_t place, Span window, Written &written);

} // namespace trainc::verify
