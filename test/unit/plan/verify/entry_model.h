// Effects of an entry's instructions on bytes, as needed for fault injection.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace trainc::test {

/// One operand's use of a buffer: bytes [begin, end) of its arena, over all iterations and ranks.
struct Touch {
  uint32_t buffer;
  uint32_t arena;
  int64_t begin, end;
  bool writes;
  const fb::CollectiveT *sum = nullptr; ///< an all-reduce
};

/// An instruction's use of bytes [begin, end) of one buffer.
struct Moment {
  size_t instruction;
  int64_t begin, end;
  bool writes;
  const fb::CollectiveT *sum; ///< the all-reduce that it is of, which may run in place
};
using Timeline = std::vector<Moment>;

/// Whether writing `b` would destroy bytes of `a` that are still needed, if both began at the same offset.
bool destroys(const Timeline &b, const Timeline &a);

/// The instructions of one entry.
class EntryModel {
public:
  EntryModel(const fb::PlanT &plan, const fb::EntryT &entry);

  /// Whether instruction `j` reads scratch that of all before it only `i` has written.
  bool feeds(size_t i, size_t j) const { return feeders_[j].contains(i); }
  /// Whether both touch the same bytes, and one of them writes there.
  bool meet(size_t i, size_t j) const;
  /// Whether scratch is read that nothing but this range of the `collective` has written to the buffer.
  bool isMissed(size_t collective, const fb::RangeT &range) const;
  /// Whether the `more` bytes after the zeroed ones belong to the same scratch buffer and are never accessed.
  bool isPadded(const fb::ZeroT &zero, uint64_t more) const;
  /// Whether each of two ranges of a collective has space for the destination of the other.
  bool fitElsewhere(const fb::CollectiveT &collective, const fb::RangeT &a, const fb::RangeT &b) const;
  /// The uses of scratch buffers by index.
  std::map<uint32_t, Timeline> timelines() const;

private:
  void findFeeders(size_t reader);
  void add(const fb::InstructionT &instruction, uint64_t iterations, std::vector<Touch> &out) const;
  uint64_t rest(const fb::Operand &operand) const;
  Touch touch(const fb::Operand &operand, uint64_t bytes, uint64_t iterations, bool writes) const;

  const fb::PlanT &plan_;
  std::vector<std::vector<Touch>> touches_; ///< by instruction
  std::vector<std::set<size_t>> feeders_;   ///< by instruction
};

} // namespace trainc::test
