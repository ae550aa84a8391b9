// Collectives by themselves: kind, group, and each range's element type and operands.
#include "runtime/plan/collective.h"
#include "runtime/plan/dtype.h"
#include "runtime/plan/operand.h"
#include "runtime/plan/uses.h"
#include "runtime/plan/verify.h"

#include <vector>

namespace trainc::verify {

namespace {

/// Whether a rank's place among those that meet is its place in its shard group, by which operands move.
bool meetsByPlace(const fb::Plan &plan, fb::Group group) {
  return group == fb::Group::Shard || (group == fb::Group::All && plan.shard_ranks() == plan.ranks());
}

/// Whether ranks can sum values of the type.
bool isSummed(fb::DType dtype) {
  return dtype == fb::DType::F32 || dtype == fb::DType::BF16 || dtype == fb::DType::F16;
}

Status kind(const fb::Plan &plan, const fb::Collective &collective) {
  if (collective.kind() > fb::CollectiveKind::MAX || collective.group() > fb::Group::MAX)
    return invalidInput("collective: unknown kind {} or group {}", static_cast<int>(collective.kind()),
                        static_cast<int>(collective.group()));
  const char *name = collectiveName(collective.kind());
  if (collective.sum() != fb::DType::F32)
    return invalidInput("{}: expected sums in f32, found dtype {}", name, static_cast<int>(collective.sum()));
  if (groupRanks(plan, collective.group()) < 2)
    return invalidInput("{}: expected a group of several ranks, found one rank by itself", name);
  if (collective.ranges()->size() == 0 || collective.ranges()->size() > kMaximumRanges)
    return invalidInput("{}: expected 1 to {} ranges, found {}", name, kMaximumRanges,
                        collective.ranges()->size());
  return {};
}

/// One range of a collective of known kind and group.
class RangeVerifier {
public:
  RangeVerifier(const fb::Plan &plan, const fb::Collective &collective, uint32_t index)
      : plan_(plan), collective_(collective), range_(*collective.ranges()->Get(index)), index_(index) {}

  Status check() const {
    TRAINC_RETURN_IF_ERROR(type());
    TRAINC_RETURN_IF_ERROR(size());
    TRAINC_RETURN_IF_ERROR(operand(source(), range_.dtype(), "source"));
    TRAINC_RETURN_IF_ERROR(operand(destination(), destinationType(range_), "destination"));
    if (!overlap(plan_, source(), destination()) || inPlace())
      return {};
    return invalidInput("{}: expected source and destination apart{}, found shared bytes", name(),
                        collective_.kind() == fb::CollectiveKind::AllReduce ? ", or the same"
                        : collective_.kind() == fb::CollectiveKind::AllGather
                            ? ", or the source as the rank's part"
                            : "");
  }

  /// That this checked range and another one may be moved in any order.
  Status checkApart(const RangeVerifier &other) const {
    if (!overlap(plan_, destination(), other.source()) &&
        !overlap(plan_, destination(), other.destination()) && !overlap(plan_, source(), other.destination()))
      return {};
    return invalidInput("{}: expected ranges apart, but for what several read, found shared bytes of ranges "
                        "{} and {}",
                        collectiveName(collective_.kind()), other.index_, index_);
  }

private:
  /// "all-gather", "all-gather of range 2".
  std::string name() const { return collectiveName(collective_.kind()) + rangeText(collective_, index_); }

  Status type() const {
    if (range_.dtype() > fb::DType::MAX)
      return invalidInput("{}: unknown dtype {}", name(), static_cast<int>(range_.dtype()));
    if (collective_.kind() != fb::CollectiveKind::AllGather && !isSummed(range_.dtype()))
      return invalidInput("{}: expected values of f32, bf16 or f16 to sum, found {}", name(),
                          dtypeName(range_.dtype()));
    if (range_.widens() &&
        (collective_.kind() != fb::CollectiveKind::ReduceScatter || range_.dtype() == fb::DType::F32))
      return invalidInput(
          "{}: expected a reduce-scatter of bf16 or f16 where a range widens, found values of {}", name(),
          dtypeName(range_.dtype()));
    if (range_.widens() && isForCuda(plan_))
      return invalidInput(
          "{}: expected sums as short as what is summed where the target is cuda, found a range that "
          "widens",
          name());
    return {};
  }

  Status size() const {
    if (range_.elements() == 0 || range_.elements() > kMaximumElements)
      return invalidInput("{}: expected 1 to {} elements, found {}", name(), kMaximumElements,
                          range_.elements());
    const uint32_t ranks = groupRanks(plan_, collective_.group());
    if (collective_.kind() != fb::CollectiveKind::AllReduce && range_.elements() % ranks != 0)
      return invalidInput("{}: expected a multiple of its group's {} ranks, found {} elements", name(), ranks,
                          range_.elements());
    return {};
  }

  /// A whole tensor lies at the same place on all ranks, and a part too, or where the rank's part of a whole
  /// is.
  Status operand(const Range &held, fb::DType dtype, const char *side) const {
    const std::string what =
        fmt::format("{} {}{}", collectiveName(collective_.kind()), side, rangeText(collective_, index_));
    if (!held.operand)
      return invalidInput("{}: expected one, found none", what);
    TRAINC_RETURN_IF_ERROR(checkRange(plan_, held, elementBytes(dtype), what.c_str()));
    const fb::Buffer &buffer = *plan_.buffers()->Get(held.operand->buffer());
    if (plan_.arenas()->Get(buffer.arena())->space() != fb::Space::Device)
      return invalidInput("{}: expected memory of the device, found '{}' elsewhere", what,
                          view(buffer.name()));
    if (buffer.dtype() != dtype)
      return invalidInput("{}: expected a buffer of {}, found '{}' of {}", what, dtypeName(dtype),
                          view(buffer.name()), dtypeName(buffer.dtype()));
    const bool isPart = held.bytes != range_.elements() * elementBytes(dtype);
    const uint64_t allowed = isPart && meetsByPlace(plan_, collective_.group()) ? held.bytes : 0;
    const uint64_t stride = held.operand->rank_stride();
    if (stride != 0 && stride != allowed)
      return invalidInput("{}: expected a rank stride of 0{}, found {}", what,
                          allowed ? fmt::format(" or, for the rank's part of a whole, {}", allowed) : "",
                          stride);
    return {};
  }

  Range source() const { return {range_.source(), sourceBytes(plan_, collective_, range_), 1}; }
  Range destination() const {
    return {range_.destination(), destinationBytes(plan_, collective_, range_), 1};
  }

  /// Where an operand begins on the rank with the first place.
  uint64_t address(const fb::Operand &operand) const {
    return plan_.buffers()->Get(operand.buffer())->offset() + operand.offset();
  }

  /// Source and destination may share bytes where each rank reads exactly what it would write itself.
  bool inPlace() const {
    if (plan_.buffers()->Get(range_.source()->buffer())->arena() !=
            plan_.buffers()->Get(range_.destination()->buffer())->arena() ||
        address(*range_.source()) != address(*range_.destination()))
      return false;
    return collective_.kind() == fb::CollectiveKind::AllReduce ||
           (collective_.kind() == fb::CollectiveKind::AllGather && range_.source()->rank_stride() != 0);
  }

  const fb::Plan &plan_;
  const fb::Collective &collective_;
  const fb::Range &range_;
  uint32_t index_;
};

} // namespace

Status collective(const fb::Plan &plan, const fb::Collective &collective) {
  if (plan.ranks() == 1)
    return invalidInput("expected no collective in a plan of one rank");
  TRAINC_RETURN_IF_ERROR(kind(plan, collective));
  std::vector<RangeVerifier> ranges;
  for (uint32_t i = 0; i < collective.ranges()->size(); ++i) {
    ranges.emplace_back(plan, collective, i);
    TRAINC_RETURN_IF_ERROR(ranges.back().check());
    for (uint32_t j = 0; j < i; ++j)
      TRAINC_RETURN_IF_ERROR(ranges.back().checkApart(ranges[j]));
  }
  return {};
}

} // namespace trainc::verify
