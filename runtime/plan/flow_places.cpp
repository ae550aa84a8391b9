// Which places stand for all. What happens to the bytes of an entry depends on the order in which its
// operands begin and end. All these addresses are linear in the place, so two of them change their order
// once, where they meet.
#include "runtime/plan/flow.h"

#include <algorithm>

namespace trainc::verify {

Span Access::hull(uint32_t places) const {
  const auto last = static_cast<int64_t>(use.range.iterations) - 1;
  const int64_t travel = last * use.range.operand->loop_stride();
  return {begin + std::min<int64_t>(travel, 0), beginAt(places - 1) + std::max<int64_t>(travel, 0) + bytes()};
}

std::vector<uint32_t> differingPlaces(std::vector<Line> lines, uint32_t places) {
  std::ranges::sort(lines);
  lines.erase(std::ranges::unique(lines).begin(), lines.end());
  std::vector<bool> differs(places);
  const auto mark = [&](int64_t place) {
    if (place >= 0 && place < places)
      differs[static_cast<size_t>(place)] = true;
  };
  mark(0);
  for (const Line &moving : lines)
    for (const Line &other : lines) {
      if (moving.stride <= other.stride) // one of the two orders of a pair
        continue;
      const int64_t distance = other.begin - moving.begin, faster = moving.stride - other.stride;
      if (distance < 0)
        continue; // they are apart already
      if (distance % faster == 0)
        mark(distance / faster); // where they meet
      mark(distance / faster + 1);
    }
  std::vector<uint32_t> found;
  for (uint32_t place = 0; place < places; ++place)
    if (differs[place])
      found.push_back(place);
  return found;
}

} // namespace trainc::verify
