#include "lib/Fusion/Waypoints.h"

using namespace trainc;

void Waypoints::find(unsigned count, llvm::function_ref<llvm::ArrayRef<unsigned>(unsigned)> successors,
                     llvm::function_ref<bool(unsigned)> staysAlone) {
  constexpr unsigned kNone = ~0U;
  std::vector<unsigned> passed(count), previous(count, kNone), number(count, kNone);
  for (unsigned node = 0; node < count; ++node)
    passed[node] = staysAlone(node);
  for (unsigned node = 0; node < count; ++node)
    for (unsigned next : successors(node))
      if (unsigned here = passed[node] + staysAlone(next); here > passed[next]) {
        passed[next] = here;
        previous[next] = node;
      }
  auto last = std::max_element(passed.begin(), passed.end());
  for (unsigned node = last == passed.end() ? kNone : last - passed.begin(); node != kNone;
       node = previous[node])
    if (staysAlone(node))
      number[node] = passed[node] - 1;

  views.assign(count, View());
  for (unsigned node = 0; node < count; ++node)
    for (unsigned next : successors(node)) {
      views[next].endBefore = std::max(views[next].endBefore, views[node].endBefore);
      if (number[node] != kNone)
        views[next].endBefore = std::max(views[next].endBefore, number[node] + 1);
    }
  for (unsigned node = count; node-- > 0;)
    for (unsigned next : successors(node))
      views[node].firstAfter = std::min({views[node].firstAfter, views[next].firstAfter, number[next]});
}
