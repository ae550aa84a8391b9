// The order of the groups that become kernels.
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace trainc {

/// The numbers below a size in an order that moves change: which of two comes first is told at once, and a
/// move takes no longer for what lies between.
class GroupOrder {
public:
  /// In the order of the numbers.
  void reset(unsigned size);

  bool isBefore(unsigned a, unsigned b) const { return places[a].label < places[b].label; }

  void remove(unsigned group);

  /// Moves groups right behind another one; among themselves they stay in order.
  void moveBehind(unsigned anchor, llvm::SmallVector<unsigned> moved);

private:
  /// A member of a ring, with labels that rise from its head.
  struct Place {
    unsigned previous, next;
    uint64_t label;
  };
  static constexpr uint64_t kGap = uint64_t(1) << 32;

  unsigned head() const { return unsigned(places.size()) - 1; }
  void insertBehind(unsigned anchor, unsigned group, uint64_t label);
  uint64_t gapBehind(unsigned anchor) const;
  void relabel();

  std::vector<Place> places; ///< the last is the head
};

} // namespace trainc
