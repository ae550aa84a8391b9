// Order of the groups that become kernels.
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace trainc {

/// A total order of the numbers below `size` that supports moves. Comparisons take constant time, and the
/// time of a move does not depend on the distance.
class GroupOrder {
public:
  /// Resets to the order of the numbers.
  void reset(unsigned size);

  bool isBefore(unsigned a, unsigned b) const { return places[a].label < places[b].label; }

  void remove(unsigned group);

  /// Moves groups right after `anchor`; their relative order is kept.
  void moveAfter(unsigned anchor, llvm::SmallVector<unsigned> moved);

private:
  /// A member of a ring whose labels ascend from its head.
  struct Place {
    unsigned previous, next;
    uint64_t label;
  };
  static constexpr uint64_t kGap = uint64_t(1) << 32;

  unsigned head() const { return unsigned(places.size()) - 1; }
  void insertAfter(unsigned anchor, unsigned group, uint64_t label);
  uint64_t gapAfter(unsigned anchor) const;
  void relabel();

  std::vector<Place> places; ///< the last is the head
};

} // namespace trainc
