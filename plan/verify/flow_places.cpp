// Selection of representative places. The effect of an entry on bytes depends on the order in which its
// operands begin and end. All these addresses are linear in the place, so two of them change their order
// once, at their intersection.
#include "plan/verify/flow.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace trainc::verify {

Span Access::hull() const {
  const auto last = static_cast<int64_t>(use.range.iterations) - 1;
  const int64_t travel = last * use.range.operand->loop_stride();
  return {begin + std::min<int64_t>(travel, 0),
          begin + (int64_t{shape.members} - 1) * rankStride() + std::max<int64_t>(travel, 0) + bytes()};
}

std::vector<uint32_t> allPlaces(uint32_t places) {
  std::vector<uint32_t> all(places);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<uint32_t> differingPlaces(std::vector<Line> lines, uint32_t places) {
  std::ranges::sort(lines);
  lines.erase(std::ranges::unique(lines).begin(), lines.end());
  if (std::ranges::count_if(lines, [](const Line &line) { return line.stride != 0; }) > places)
    return allPlaces(places); // computing intersections would take longer than walking all places
  std::set<uint32_t> found = {0};
  const auto add = [&](int64_t place) {
    if (place < places)
      found.insert(static_cast<uint32_t>(place));
  };
  for (const Line &line : lines)
    for (const Line &other : lines) {
      const int64_t distance = other.begin - line.begin, faster = line.stride - other.stride;
      if (faster <= 0 || distance < 0) // not the faster one of a pair, or already ahead
        continue;
      if (distance % faster == 0)
        add(distance / faster); // the intersection
      add(distance / faster + 1);
    }
  return {found.begin(), found.end()};
}

} // namespace trainc::verify
