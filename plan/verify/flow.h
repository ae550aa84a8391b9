// Effects of instructions on the content of bytes. Internal to plan/verify.
#pragma once

#include "plan/facts/uses.h"
#include "plan/verify/written.h"

#include <optional>
#include <vector>

namespace trainc::verify {

using namespace facts;

/// A read or a write of an operand. An operand that is both has two accesses.
struct Access {
  const fb::Instruction *instruction;
  Use use;
  bool writes;
  uint32_t inner;       ///< in a loop: index of the instruction in the body
  int64_t begin;        ///< offset in the arena, in the first iteration, on rank 0
  bool mayFind;         ///< whether it may read content from before the entry
  RankGroupShape shape; ///< of the groups along the operand's axes

  uint32_t buffer() const { return use.range.operand->buffer(); }
  int64_t bytes() const { return static_cast<int64_t>(use.range.bytes); }
  /// Difference of the begins on ranks at consecutive places.
  int64_t rankStride() const { return static_cast<int64_t>(use.range.operand->rank_stride()); }
  /// Begin on a rank.
  int64_t beginOn(uint32_t rank) const { return begin + shape.placeOf(rank) * rankStride(); }
  /// Smallest span over all iterations and ranks.
  Span hull() const;
};

/// Accesses of an instruction of an entry, or of a loop in all iterations, to one arena, in execution order:
/// an instruction's reads precede its writes.
struct FlowStep {
  uint32_t index;
  uint64_t iterations;
  std::vector<Access> accesses;
};

/// An address that is linear in the place: `begin` + place * `stride`.
struct Line {
  int64_t begin, stride;
  auto operator<=>(const Line &) const = default;
};

/// Returns all places from 0 to `places` - 1.
std::vector<uint32_t> allPlaces(uint32_t places);

/// Returns places that represent all places below `places`, beginning with 0. From one of them up to the next
/// one, the order of the lines does not change.
std::vector<uint32_t> differingPlaces(std::vector<Line> lines, uint32_t places);

/// An invalid access.
struct Fault {
  enum Kind : uint8_t {
    Unwritten,   ///< reads bytes that were never written
    Overwritten, ///< reads bytes written through another buffer
    Padding,     ///< reads padding as numbers
    Unread,      ///< overwrites bytes that were never read
    Scattered    ///< too many pieces to analyse
  };
  const Access *access;
  Kind kind;
  uint32_t writer = 0; ///< Overwritten: the buffer used by the writer
};

/// Applies an access to a byte.
std::optional<Fault> apply(const Access &access, Content &content);

/// Applies a loop of at least two iterations to the bytes `window` of an arena, on a rank. Exact for each
/// byte.
std::optional<Fault> applyLoop(const FlowStep &loop, uint32_t rank, Span window, Written &written);

} // namespace trainc::verify
