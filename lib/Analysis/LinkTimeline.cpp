#include "lib/Analysis/LinkTimeline.h"

#include "llvm/ADT/STLExtras.h"

namespace trainc {

void LinkTimeline::compute(double seconds) {
  while (!queue.empty() && seconds > 0) {
    Collective &first = queue.front();
    const double takes = first.left / share, passes = std::min(takes, seconds);
    busy += passes;
    seconds -= passes;
    first.left -= passes * share;
    if (takes <= passes)
      queue.pop_front();
  }
}

double LinkTimeline::wait(int64_t number) {
  double waits = 0;
  while (llvm::any_of(queue, [&](const Collective &each) { return each.number == number; })) {
    waits += queue.front().left;
    queue.pop_front();
  }
  busy += waits;
  return waits;
}

} // namespace trainc
