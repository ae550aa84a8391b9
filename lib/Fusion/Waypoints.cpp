#include "lib/Fusion/Waypoints.h"

using namespace trainc;

void Waypoints::find(unsigned count, llvm::function_ref<llvm::ArrayRef<unsigned>(unsigned)> successors) {
  constexpr unsigned kNone = ~0U;
  std::vector<unsigned> passed(count, 0), previous(count, kNone), number(count, kNone);
  for (unsigned node = 0; node < count; ++node)
    for (unsigned next : successors(node))
      if (passed[node] + 1 > passed[next]) {
        passed[next] = passed[node] + 1;
        previous[next] = node;
      }
  const auto last = std::max_element(passed.begin(), passed.end());
  way.clear();
  for (unsigned node = last == passed.end() ? kNone : unsigned(last - passed.begin()); node != kNone;
       node = previous[node]) {
    way.push_back(node);
    number[node] = passed[node];
  }
  std::reverse(way.begin(), way.end());

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
