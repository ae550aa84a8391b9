// Checks of collectives on their own: kind, axes, and each range's element type and operands.
#include "plan/facts/collective.h"
#include "plan/facts/dtype.h"
#include "plan/facts/operand.h"
#include "plan/facts/uses.h"
#include "plan/verify/verify.h"

#include <vector>

namespace trainc::verify {

namespace {

Status kind(const fb::Plan &plan, const fb::Collective &collective) {
  if (collective.kind() > fb::CollectiveKind::MAX)
    return invalidInput("collective: unknown kind {}", static_cast<int>(collective.kind()));
  const char *name = collectiveName(collective.kind());
  if (collective.sum() != fb::DType::F32)
    return invalidInput("{}: expected sums in f32, found dtype {}", name, static_cast<int>(collective.sum()));
  TRAINC_RETURN_IF_ERROR(axes(plan, axesOf(*collective.axes()), name));
  if (groupRanks(plan, collective) < 2)
    return invalidInput("{}: expected a group of several ranks, found one rank by itself", name);
  if (collective.ranges()->size() == 0 || collective.ranges()->size() > kMaxRanges)
    return invalidInput("{}: expected 1 to {} ranges, found {}", name, kMaxRanges,
                        collective.ranges()->size());
  return {};
}

/// Checks one range of a collective of known kind and group.
class RangeVerifier {
public:
  RangeVerifier(const fb::Plan &plan, const fb::Collective &collective, uint32_t index)
      : plan_(plan), collective_(collective), range_(*collective.ranges()->Get(index)), index_(index) {}

  Status check() const {
    TRAINC_RETURN_IF_ERROR(type());
    TRAINC_RETURN_IF_ERROR(size());
    TRAINC_RETURN_IF_ERROR(operand(source(), range_.dtype(), "source"));
    TRAINC_RETURN_IF_ERROR(operand(destination(), destinationType(range_), "destination"));
    TRAINC_RETURN_IF_ERROR(range_.sum_kernel() ? kernelSum(*range_.sum_kernel()) : otherSum());
    if (!overlap(plan_, source(), destination()) || inPlace())
      return {};
    return invalidInput("{}: expected a source and a destination without common bytes{}, found an overlap",
                        name(),
                        traits_.destinationIsShard ? ""
                        : traits_.sourceIsShard    ? ", or the source as the rank's shard of the destination"
                                                   : ", or the same bytes as both");
  }

  /// Checks that this range and another one, both checked, can be transferred in any order.
  Status checkApart(const RangeVerifier &other) const {
    if (!overlap(plan_, destination(), other.source()) &&
        !overlap(plan_, destination(), other.destination()) &&
        !overlap(plan_, source(), other.destination()) && workspaceApart(other) &&
        other.workspaceApart(*this))
      return {};
    return invalidInput("{}: expected ranges that have only bytes in common that both read, found others in "
                        "ranges {} and {}",
                        collectiveName(collective_.kind()), other.index_, index_);
  }

private:
  /// "all-gather", "all-gather of range 2".
  std::string name() const { return collectiveName(collective_.kind()) + rangeText(collective_, index_); }

  Status type() const {
    if (range_.dtype() > fb::DType::MAX)
      return invalidInput("{}: unknown dtype {}", name(), static_cast<int>(range_.dtype()));
    if (traits_.sums && !isSummed(range_.dtype()))
      return invalidInput("{}: expected values of f32, bf16 or f16 to sum, found {}", name(),
                          dtypeName(range_.dtype()));
    if (range_.widens() &&
        (collective_.kind() != fb::CollectiveKind::ReduceScatter || range_.dtype() == fb::DType::F32))
      return invalidInput(
          "{}: expected a reduce-scatter of bf16 or f16 where a range widens, found values of {}", name(),
          dtypeName(range_.dtype()));
    return {};
  }

  /// Checks a range whose sums the communicator computes.
  Status otherSum() const {
    if (const TargetTraits &target = targetOf(plan_); range_.widens() && target.sumsByKernel)
      return invalidInput("{}: expected a sum_kernel where a range widens and the target is {}, found none",
                          name(), target.name);
    if (range_.workspace() || range_.workspace_bytes() != 0)
      return invalidInput("{}: expected no workspace without a sum_kernel, found {} bytes", name(),
                          range_.workspace_bytes());
    return {};
  }

  Status kernelSum(uint32_t index) const {
    if (!targetOf(plan_).sumsByKernel || !traits_.sums)
      return invalidInput("{}: expected a sum_kernel in sums where the target is {} alone, found kernel {}",
                          name(), std::string_view(namesOfTargets(&TargetTraits::sumsByKernel)), index);
    if (index >= plan_.kernels()->size())
      return invalidInput("{}: expected a sum_kernel below {}, found {}", name(), plan_.kernels()->size(),
                          index);
    const fb::Kernel &kernel = *plan_.kernels()->Get(index);
    const uint32_t places = groupRanks(plan_, collective_);
    const auto isOf = [&](uint32_t param, fb::DType dtype) {
      return kernel.params()->Get(param)->dtype() == dtype;
    };
    if (kernel.kind() != fb::KernelKind::RankSum || kernel.params()->size() != places + 2 ||
        !isOf(0, range_.dtype()) || !isOf(places, destinationType(range_)))
      return invalidInput(
          "{}: expected a sum_kernel of kind rank_sum that adds {} of {} into {}, found kernel {}", name(),
          places, dtypeName(range_.dtype()), dtypeName(destinationType(range_)), view(kernel.symbol()));
    return workspaceOperand(places);
  }

  Status workspaceOperand(uint32_t places) const {
    const std::string what =
        fmt::format("{} workspace{}", collectiveName(collective_.kind()), rangeText(collective_, index_));
    if (!range_.workspace())
      return invalidInput("{}: expected one beside a sum_kernel, found none", what);
    if (range_.workspace_bytes() / kMinPieceBytes < places - 1)
      return invalidInput("{}: expected at least {} bytes for each of {} other ranks, found {}", what,
                          kMinPieceBytes, places - 1, range_.workspace_bytes());
    TRAINC_RETURN_IF_ERROR(checkRange(plan_, workspace(), kMinPieceBytes, what.c_str()));
    TRAINC_RETURN_IF_ERROR(onDevice(*range_.workspace(), what));
    if (range_.workspace()->rank_stride() != 0)
      return invalidInput("{}: expected a rank stride of 0, found {}", what,
                          range_.workspace()->rank_stride());
    if (overlap(plan_, workspace(), source()) || overlap(plan_, workspace(), destination()))
      return invalidInput("{}: expected it apart from source and destination, found shared bytes", what);
    return {};
  }

  Status onDevice(const fb::Operand &operand, std::string_view what) const {
    const fb::Buffer &buffer = *plan_.buffers()->Get(operand.buffer());
    if (plan_.arenas()->Get(buffer.arena())->space() != fb::Space::Device)
      return invalidInput("{}: expected memory of the device, found '{}' elsewhere", what,
                          view(buffer.name()));
    return {};
  }

  Status size() const {
    if (range_.elements() == 0 || range_.elements() > kMaxElements)
      return invalidInput("{}: expected 1 to {} elements, found {}", name(), kMaxElements, range_.elements());
    const uint32_t ranks = groupRanks(plan_, collective_);
    if ((traits_.sourceIsShard || traits_.destinationIsShard) && range_.elements() % ranks != 0)
      return invalidInput("{}: expected a multiple of its group's {} ranks, found {} elements", name(), ranks,
                          range_.elements());
    return {};
  }

  /// Checks an operand: a whole tensor has the same offset on all ranks; a shard does too, or lies at its
  /// offset within a whole tensor.
  Status operand(const Range &held, fb::DType dtype, const char *side) const {
    const std::string what =
        fmt::format("{} {}{}", collectiveName(collective_.kind()), side, rangeText(collective_, index_));
    if (!held.operand)
      return invalidInput("{}: expected one, found none", what);
    TRAINC_RETURN_IF_ERROR(checkRange(plan_, held, elementBytes(dtype), what.c_str()));
    TRAINC_RETURN_IF_ERROR(onDevice(*held.operand, what));
    const fb::Buffer &buffer = *plan_.buffers()->Get(held.operand->buffer());
    if (buffer.dtype() != dtype)
      return invalidInput("{}: expected a buffer of {}, found '{}' of {}", what, dtypeName(dtype),
                          view(buffer.name()), dtypeName(buffer.dtype()));
    const bool isPart = held.bytes != range_.elements() * elementBytes(dtype);
    const uint64_t allowed = isPart ? held.bytes : 0, stride = held.operand->rank_stride();
    if (stride != 0 && stride != allowed)
      return invalidInput("{}: expected a rank stride of 0{}, found {}", what,
                          allowed ? fmt::format(" or, for the rank's part of a whole, {}", allowed) : "",
                          stride);
    if (stride != 0 && axesOf(held.operand->axes()) != axesOf(*collective_.axes()))
      return invalidInput("{}: expected a rank stride along the axes of the collective, {}, found one along "
                          "{}",
                          what, Mesh(plan_).textOf(axesOf(*collective_.axes())),
                          Mesh(plan_).textOf(axesOf(held.operand->axes())));
    return {};
  }

  /// Whether this range's workspace, if any, is disjoint from another range.
  bool workspaceApart(const RangeVerifier &other) const {
    return !range_.workspace() ||
           !(overlap(plan_, workspace(), other.source()) ||
             overlap(plan_, workspace(), other.destination()) ||
             (other.range_.workspace() && overlap(plan_, workspace(), other.workspace())));
  }

  Range workspace() const { return {range_.workspace(), range_.workspace_bytes(), 1}; }
  Range source() const { return {range_.source(), sourceBytes(plan_, collective_, range_), 1}; }
  Range destination() const {
    return {range_.destination(), destinationBytes(plan_, collective_, range_), 1};
  }

  /// Offset of an operand at place 0.
  uint64_t address(const fb::Operand &operand) const {
    return plan_.buffers()->Get(operand.buffer())->offset() + operand.offset();
  }

  /// Source and destination may overlap if each rank reads exactly the bytes that it would write itself.
  bool inPlace() const {
    if (plan_.buffers()->Get(range_.source()->buffer())->arena() !=
            plan_.buffers()->Get(range_.destination()->buffer())->arena() ||
        address(*range_.source()) != address(*range_.destination()))
      return false;
    return !traits_.destinationIsShard && (!traits_.sourceIsShard || range_.source()->rank_stride() != 0);
  }

  const fb::Plan &plan_;
  const fb::Collective &collective_;
  const fb::Range &range_;
  CollectiveTraits traits_ = traitsOf(collective_.kind());
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
