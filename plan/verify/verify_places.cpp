// Proof that copies transfer the right states. A buffer names the locations, in spaces farther from the
// device, of values that are fetched to it or stored from it (see Buffer in plan.fbs). Proven:
//
//  * A copy between spaces is from or to the begin of a buffer, and to or from a location that the buffer
//    names. So no copy transfers another state, or another part of it, of equal size.
//  * Each location that a buffer names has at least one copy. So none is missing.
//
// Data flow alone cannot prove this: a forward pass stores nothing of the weights that it fetches, and an
// update computes moments, weights and working copies from each other.
//
// Sizes and order of copies are proven by other parts of the verifier (verify_spaces.cpp, verify_flow.cpp).
#include "plan/schema/enum_words.h"
#include "plan/verify/verify.h"

#include <set>
#include <string>

namespace trainc::verify {

namespace {

enum class Way : bool { Fetched, Stored };

/// A buffer in the nearer space, and a location in the farther one.
struct Link {
  uint32_t near, far;
  uint64_t offset, rankStride; ///< in the farther space
  Axes axes;                   ///< of the rank stride
  Way way;

  Link(uint32_t near, const fb::Operand &far, Way way)
      : near(near), far(far.buffer()), offset(far.offset()), rankStride(far.rank_stride()),
        axes(axesOf(far.axes())), way(way) {}
  auto operator<=>(const Link &) const = default;
};

std::string offsetText(uint64_t offset, uint64_t rankStride) {
  return rankStride == 0 ? std::to_string(offset) : fmt::format("{} + rank*{}", offset, rankStride);
}

class PlaceVerifier {
public:
  explicit PlaceVerifier(const fb::Plan &plan) : plan_(plan) {}

  Status check() {
    for (uint32_t i = 0; i < plan_.buffers()->size(); ++i)
      TRAINC_RETURN_IF_ERROR(collect(i));
    for (const fb::Entry *entry : *plan_.entries())
      for (uint32_t i = 0; i < entry->instructions()->size(); ++i)
        if (const fb::Instruction &each = *entry->instructions()->Get(i);
            const fb::Copy *copy = each.operation_as_Copy())
          TRAINC_RETURN_IF_ERROR(located(plan_, *entry, std::to_string(i), each, follow(*copy)));
    for (const Link &link : said_)
      if (!moved_.contains(link))
        return invalidInput("expected a copy for what is {}, found none", text(link));
    return {};
  }

private:
  fb::Space space(uint32_t buffer) const {
    return plan_.arenas()->Get(plan_.buffers()->Get(buffer)->arena())->space();
  }
  std::string_view nameOf(uint32_t buffer) const { return view(plan_.buffers()->Get(buffer)->name()); }

  std::string text(const Link &link) const {
    const bool isFetched = link.way == Way::Fetched;
    return fmt::format("{} '{}' {} '{}' at {}", isFetched ? "fetched to" : "stored from", nameOf(link.near),
                       isFetched ? "from" : "to", nameOf(link.far), offsetText(link.offset, link.rankStride));
  }

  /// Collects the locations that a buffer names.
  Status collect(uint32_t buffer) {
    const fb::Buffer &table = *plan_.buffers()->Get(buffer);
    if (table.fetched())
      TRAINC_RETURN_IF_ERROR(collect(buffer, *table.fetched(), Way::Fetched));
    if (table.stored())
      for (const fb::Operand *place : *table.stored())
        TRAINC_RETURN_IF_ERROR(collect(buffer, *place, Way::Stored));
    return {};
  }

  Status collect(uint32_t buffer, const fb::Operand &place, Way way) {
    if (place.buffer() >= plan_.buffers()->size())
      return invalidInput("buffer '{}': expected a place in a buffer below {}, found {}", nameOf(buffer),
                          plan_.buffers()->size(), place.buffer());
    if (space(place.buffer()) <= space(buffer))
      return invalidInput("buffer '{}': expected a place farther from the device than {}, found '{}' in {}",
                          nameOf(buffer), wordOf(space(buffer)), nameOf(place.buffer()),
                          wordOf(space(place.buffer())));
    said_.emplace(buffer, place, way);
    return {};
  }

  Status follow(const fb::Copy &copy) {
    const bool fetches = space(copy.source()->buffer()) > space(copy.destination()->buffer());
    const fb::Operand &near = fetches ? *copy.destination() : *copy.source(),
                      &far = fetches ? *copy.source() : *copy.destination();
    if (copy.bytes() == 0 || space(near.buffer()) == space(far.buffer()))
      return {};
    if (near.offset() != 0 || near.rank_stride() != 0)
      return invalidInput("copy: expected it at the begin of '{}', found it at {}", nameOf(near.buffer()),
                          offsetText(near.offset(), near.rank_stride()));
    const Link link(near.buffer(), far, fetches ? Way::Fetched : Way::Stored);
    if (!said_.contains(link))
      return invalidInput("copy: expected a place that buffer '{}' says, found it {}", nameOf(near.buffer()),
                          text(link));
    moved_.insert(link);
    return {};
  }

  const fb::Plan &plan_;
  std::set<Link> said_, moved_;
};

} // namespace

Status places(const fb::Plan &plan) { return PlaceVerifier(plan).check(); }

} // namespace trainc::verify
