#include "lib/Fusion/GroupOrder.h"

#include "llvm/ADT/STLExtras.h"

using namespace trainc;

void GroupOrder::reset(unsigned size) {
  places.assign(size + 1, Place());
  places[size] = {size, size, 0};
  for (unsigned group = 0; group < size; ++group)
    insertAfter(places[size].previous, group, kGap * (group + 1));
}

void GroupOrder::remove(unsigned group) {
  places[places[group].previous].next = places[group].next;
  places[places[group].next].previous = places[group].previous;
}

void GroupOrder::insertAfter(unsigned anchor, unsigned group, uint64_t label) {
  unsigned next = places[anchor].next;
  places[group] = {anchor, next, label};
  places[anchor].next = places[next].previous = group;
}

uint64_t GroupOrder::gapAfter(unsigned anchor) const {
  unsigned next = places[anchor].next;
  return next == head() ? kGap : places[next].label - places[anchor].label;
}

/// Restores wide gaps between all labels.
void GroupOrder::relabel() {
  uint64_t label = 0;
  for (unsigned group = places[head()].next; group != head(); group = places[group].next)
    places[group].label = label += kGap;
}

void GroupOrder::moveAfter(unsigned anchor, llvm::SmallVector<unsigned> moved) {
  llvm::sort(moved, [&](unsigned a, unsigned b) { return isBefore(a, b); });
  for (unsigned group : moved)
    remove(group);
  if (gapAfter(anchor) <= moved.size())
    relabel();
  uint64_t step = gapAfter(anchor) / (moved.size() + 1);
  for (unsigned group : moved) {
    insertAfter(anchor, group, places[anchor].label + step);
    anchor = group;
  }
}
