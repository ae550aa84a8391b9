#include "runtime/plan/dtype.h"
#include "runtime/plan/verifier.h"
#include "runtime/plan/verify.h"

#include <algorithm>
#include <vector>

namespace trainc::verify {

namespace {

constexpr uint64_t kMaximumArena = uint64_t{1} << 46;

Status arenas(const fb::Plan &plan) {
  bool seen[2] = {false, false};
  for (const fb::Arena *arena : *plan.arenas()) {
    const std::string_view name = view(arena->name());
    if (name != "persistent" && name != "scratch")
      return invalidInput("arena name: expected 'persistent' or 'scratch', found another");
    bool &known = seen[name == "scratch"];
    if (known)
      return invalidInput("arena '{}': expected it once, found it twice", name);
    known = true;
    if (arena->bytes() > kMaximumArena)
      return invalidInput("arena '{}': expected at most {} bytes, found {}", name, kMaximumArena,
                          arena->bytes());
  }
  return {};
}

Status buffer(const fb::Plan &plan, uint32_t index) {
  const fb::Buffer &buffer = *plan.buffers()->Get(index);
  if (buffer.name())
    TRAINC_RETURN_IF_ERROR(name(view(buffer.name()), fmt::format("buffer {}", index)));
  const std::string what = fmt::format("buffer {} ('{}')", index, view(buffer.name()));
  if (buffer.arena() >= plan.arenas()->size())
    return invalidInput("{}: expected an arena below {}, found {}", what, plan.arenas()->size(),
                        buffer.arena());
  if (buffer.dtype() > fb::DType::MAX || buffer.role() > fb::Role::MAX)
    return invalidInput("{}: unknown dtype {} or role {}", what, static_cast<int>(buffer.dtype()),
                        static_cast<int>(buffer.role()));
  if (buffer.offset() % 64 != 0)
    return invalidInput("{}: expected an offset that is a multiple of 64, found {}", what, buffer.offset());
  const uint64_t arena = plan.arenas()->Get(buffer.arena())->bytes();
  if (buffer.offset() > arena || buffer.bytes() > arena - buffer.offset())
    return invalidInput("{}: expected it within the {} bytes of its arena, found {} bytes at {}", what, arena,
                        buffer.bytes(), buffer.offset());
  return {};
}

/// Arenas hold what the buffers need and no more, so that a damaged size is found before it is allocated.
Status slack(const fb::Plan &plan) {
  std::vector<uint64_t> ends(plan.arenas()->size(), 0);
  for (const fb::Buffer *buffer : *plan.buffers())
    ends[buffer->arena()] = std::max(ends[buffer->arena()], buffer->offset() + buffer->bytes());
  for (uint32_t i = 0; i < ends.size(); ++i) {
    const fb::Arena &arena = *plan.arenas()->Get(i);
    if (arena.bytes() - ends[i] >= kArenaSlack)
      return invalidInput("arena '{}': expected the {} bytes that its buffers take, found {}",
                          view(arena.name()), ends[i], arena.bytes());
  }
  return {};
}

/// What lives across entries has its bytes to itself; in scratch, lifetimes decide (see verify_flow.cpp).
Status apart(const fb::Plan &plan) {
  std::vector<const fb::Buffer *> buffers;
  for (const fb::Buffer *buffer : *plan.buffers())
    if (view(plan.arenas()->Get(buffer->arena())->name()) == "persistent" && buffer->bytes() > 0)
      buffers.push_back(buffer);
  std::ranges::sort(buffers, {}, [](const fb::Buffer *each) { return each->offset(); });
  for (size_t i = 1; i < buffers.size(); ++i)
    if (buffers[i]->offset() < buffers[i - 1]->offset() + buffers[i - 1]->bytes())
      return invalidInput(
          "buffers '{}' and '{}': expected bytes of their own in the persistent arena, found some "
          "shared, at {}",
          view(buffers[i - 1]->name()), view(buffers[i]->name()), buffers[i]->offset());
  return {};
}

} // namespace

Status memory(const fb::Plan &plan) {
  TRAINC_RETURN_IF_ERROR(arenas(plan));
  for (uint32_t i = 0; i < plan.buffers()->size(); ++i)
    TRAINC_RETURN_IF_ERROR(buffer(plan, i));
  TRAINC_RETURN_IF_ERROR(slack(plan));
  return apart(plan);
}

} // namespace trainc::verify
