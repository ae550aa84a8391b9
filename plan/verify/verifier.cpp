#include "plan/verify/verifier.h"

#include "base/plain_text.h"
#include "plan/facts/dtype.h"
#include "plan/facts/view.h"
#include "plan/verify/verify.h"

#include <algorithm>

namespace trainc {

namespace {

Status header(const fb::Plan &plan) {
  TRAINC_RETURN_IF_ERROR(verify::name(view(plan.name()), "the plan"));
  if (!findTarget(view(plan.target())))
    return invalidInput("plan target: expected {}, found '{}'; compile with --target={}",
                        std::string_view(namesOfTargets([](const TargetTraits &) { return true; }, "'")),
                        view(plan.target()), kDefaultTarget.name);
  if (plan.ranks() == 0 || plan.ranks() > kMaxRanks)
    return invalidInput("plan ranks: expected 1 to {}, found {}", kMaxRanks, plan.ranks());
  const Mesh mesh(plan);
  TRAINC_RETURN_IF_ERROR(checkMesh(mesh));
  if (mesh.ranks() != plan.ranks())
    return invalidInput("plan mesh: expected axes of {} ranks, found {}", plan.ranks(), mesh.text());
  for (const fb::Source *source : *plan.sources())
    TRAINC_RETURN_IF_ERROR(verify::name(view(source->op()), "a source op"));
  return {};
}

} // namespace

namespace verify {

Status name(std::string_view name, std::string_view what) {
  if (!isPlainText(name))
    return invalidInput(
        "the name of {}: expected UTF-8 text without control or invisible characters, found {}", what,
        name.empty() ? "nothing" : "other bytes");
  return {};
}

bool isAligned(const void *data) { return reinterpret_cast<uintptr_t>(data) % 8 == 0; }

uint64_t elements(const flatbuffers::Vector<uint64_t> &shape) {
  constexpr uint64_t limit = uint64_t{1} << 48;
  if (shape.size() > 0 && !isAligned(shape.data())) // an empty vector, of a scalar, need not be aligned
    return 0;
  uint64_t product = 1;
  for (const uint64_t dimension : shape) {
    if (dimension == 0 || dimension > limit / product)
      return 0;
    product *= dimension;
  }
  return product;
}

Status tensorBuffer(const fb::Plan &plan, uint32_t index, fb::DType dtype, uint64_t elements,
                    std::string_view what) {
  if (index >= plan.buffers()->size())
    return invalidInput("{}: expected a buffer below {}, found {}", what, plan.buffers()->size(), index);
  const fb::Buffer &buffer = *plan.buffers()->Get(index);
  if (dtype != buffer.dtype())
    return invalidInput("{}: expected the dtype of its buffer, {}, found {}", what, dtypeName(buffer.dtype()),
                        dtypeName(dtype));
  const uint64_t bytes = elements * elementBytes(dtype);
  if (elements == 0 || bytes > buffer.bytes() || buffer.bytes() - bytes >= kBufferSlack)
    return invalidInput("{}: expected a tensor of the {} bytes of buffer {}, found {} elements of {}", what,
                        buffer.bytes(), index, elements, dtypeName(dtype));
  return {};
}

Status axes(const fb::Plan &plan, Axes axes, std::string_view what) {
  const uint32_t count = plan.mesh() ? plan.mesh()->size() : 0;
  if (axes.isEmpty() || axes.end > count)
    return invalidInput("{}: expected some of the mesh's {} axes, found axes {} to {}", what, count,
                        axes.first, axes.end);
  return {};
}

Status persistent(const fb::Plan &plan, uint32_t buffer, std::string_view what) {
  const fb::Arena &arena = *plan.arenas()->Get(plan.buffers()->Get(buffer)->arena());
  if (!arena.persistent() || arena.space() != fb::Space::Device)
    return invalidInput("{}: expected it in a persistent arena of the device, found it in '{}'", what,
                        view(arena.name()));
  return {};
}

Status located(const fb::Plan &plan, const fb::Entry &entry, std::string_view index,
               const fb::Instruction &instruction, Status status) {
  if (status.ok())
    return status;
  const std::string place = placeText(plan, view(entry.name()), index, instruction);
  return Status(status.code(), fmt::format("{}: {}", place, status.message()));
}

} // namespace verify

Status verifyPlan(const fb::Plan &plan) {
  TRAINC_RETURN_IF_ERROR(header(plan));
  TRAINC_RETURN_IF_ERROR(verify::memory(plan));
  TRAINC_RETURN_IF_ERROR(verify::code(plan));
  TRAINC_RETURN_IF_ERROR(verify::instructions(plan));
  TRAINC_RETURN_IF_ERROR(verify::interface(plan));
  TRAINC_RETURN_IF_ERROR(verify::states(plan));
  TRAINC_RETURN_IF_ERROR(verify::entries(plan));
  TRAINC_RETURN_IF_ERROR(verify::spaces(plan));
  TRAINC_RETURN_IF_ERROR(verify::places(plan));
  TRAINC_RETURN_IF_ERROR(verify::order(plan)); // before flow(), which relies on the entry's order
  return verify::flow(plan);
}

} // namespace trainc
