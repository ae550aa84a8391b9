// Collectives by themselves: kind, group, element type, operands.
#include "runtime/plan/collective.h"
#include "runtime/plan/dtype.h"
#include "runtime/plan/operand.h"
#include "runtime/plan/verify.h"

namespace trainc::verify {

namespace {

constexpr uint64_t kMaximumElements = uint64_t{1} << 46;

/// Whether a rank's place among those that meet is its place in its shard group, by which operands move.
bool meetsByPlace(const fb::Plan &plan, fb::Group group) {
  return group == fb::Group::Shard || (group == fb::Group::All && plan.shard_ranks() == plan.ranks());
}

Status kind(const fb::Plan &plan, const fb::Start &start) {
  if (start.kind() > fb::CollectiveKind::MAX || start.group() > fb::Group::MAX ||
      start.dtype() > fb::DType::MAX)
    return invalidInput("start: unknown kind {}, group {} or dtype {}", static_cast<int>(start.kind()),
                        static_cast<int>(start.group()), static_cast<int>(start.dtype()));
  const char *name = collectiveName(start.kind());
  if (groupRanks(plan, start.group()) < 2)
    return invalidInput("{}: expected a group of several ranks, found one rank by itself", name);
  if (start.kind() != fb::CollectiveKind::AllGather && start.dtype() != fb::DType::F32)
    return invalidInput("{}: expected a sum of f32, found {}", name, dtypeName(start.dtype()));
  return {};
}

Status size(const fb::Plan &plan, const fb::Start &start) {
  const char *name = collectiveName(start.kind());
  if (start.elements() == 0 || start.elements() > kMaximumElements)
    return invalidInput("{}: expected 1 to {} elements, found {}", name, kMaximumElements, start.elements());
  const uint32_t ranks = groupRanks(plan, start.group());
  if (start.kind() != fb::CollectiveKind::AllReduce && start.elements() % ranks != 0)
    return invalidInput("{}: expected a multiple of its group's {} ranks, found {} elements", name, ranks,
                        start.elements());
  return {};
}

/// A whole tensor lies at the same place on all ranks, and a part too, or where the rank's part of a whole
/// is.
Status operand(const fb::Plan &plan, const fb::Start &start, bool isSource) {
  const fb::Operand *operand = isSource ? start.source() : start.destination();
  const std::string what =
      fmt::format("{} {}", collectiveName(start.kind()), isSource ? "source" : "destination");
  if (!operand)
    return invalidInput("{}: expected one, found none", what);
  const uint64_t bytes = isSource ? sourceBytes(plan, start) : destinationBytes(plan, start);
  TRAINC_RETURN_IF_ERROR(checkRange(plan, {operand, bytes, 1}, elementBytes(start.dtype()), what.c_str()));
  const fb::Buffer &buffer = *plan.buffers()->Get(operand->buffer());
  if (buffer.dtype() != start.dtype())
    return invalidInput("{}: expected a buffer of {}, found '{}' of {}", what, dtypeName(start.dtype()),
                        view(buffer.name()), dtypeName(buffer.dtype()));
  const bool isPart = bytes != start.elements() * elementBytes(start.dtype());
  const uint64_t allowed = isPart && meetsByPlace(plan, start.group()) ? bytes : 0;
  if (operand->rank_stride() != 0 && operand->rank_stride() != allowed)
    return invalidInput("{}: expected a rank stride of 0{}, found {}", what,
                        allowed ? fmt::format(" or, for the rank's part of a whole, {}", allowed) : "",
                        operand->rank_stride());
  return {};
}

/// Where an operand begins on the rank with the first place.
uint64_t address(const fb::Plan &plan, const fb::Operand &operand) {
  return plan.buffers()->Get(operand.buffer())->offset() + operand.offset();
}

/// Source and destination may share bytes where each rank reads exactly what it would write itself.
bool inPlace(const fb::Plan &plan, const fb::Start &start) {
  if (plan.buffers()->Get(start.source()->buffer())->arena() !=
          plan.buffers()->Get(start.destination()->buffer())->arena() ||
      address(plan, *start.source()) != address(plan, *start.destination()))
    return false;
  return start.kind() == fb::CollectiveKind::AllReduce ||
         (start.kind() == fb::CollectiveKind::AllGather && start.source()->rank_stride() != 0);
}

} // namespace

Status start(const fb::Plan &plan, const fb::Start &start) {
  if (plan.ranks() == 1)
    return invalidInput("expected no collective in a plan of one rank");
  TRAINC_RETURN_IF_ERROR(kind(plan, start));
  TRAINC_RETURN_IF_ERROR(size(plan, start));
  TRAINC_RETURN_IF_ERROR(operand(plan, start, /*isSource=*/true));
  TRAINC_RETURN_IF_ERROR(operand(plan, start, /*isSource=*/false));
  const Range source{start.source(), sourceBytes(plan, start), 1},
      destination{start.destination(), destinationBytes(plan, start), 1};
  if (overlap(plan, source, destination) && !inPlace(plan, start))
    return invalidInput("{}: expected source and destination apart{}, found shared bytes",
                        collectiveName(start.kind()),
                        start.kind() == fb::CollectiveKind::AllReduce   ? ", or the same"
                        : start.kind() == fb::CollectiveKind::AllGather ? ", or the source as the rank's part"
                                                                        : "");
  return {};
}

} // namespace trainc::verify
