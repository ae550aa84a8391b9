#include "plan/facts/dtype.h"
#include "plan/schema/limits.h"
#include "plan/verify/verifier.h"
#include "plan/verify/verify.h"

#include <algorithm>
#include <set>
#include <vector>

namespace trainc::verify {

namespace {

constexpr uint64_t kBufferAlignment = 64;

Status arenas(const fb::Plan &plan) {
  std::set<std::string_view> seen;
  uint64_t together = 0;
  for (const fb::Arena *arena : *plan.arenas()) {
    TRAINC_RETURN_IF_ERROR(name(view(arena->name()), "an arena"));
    const std::string_view text = view(arena->name());
    if (!seen.insert(text).second)
      return invalidInput("arena '{}': expected it once, found it twice", text);
    if (arena->space() > fb::Space::MAX)
      return invalidInput("arena '{}': unknown space {}", text, static_cast<int>(arena->space()));
    if (arena->bytes() > kMaxArenaBytes)
      return invalidInput("arena '{}': expected at most {} bytes, found {}", text, kMaxArenaBytes,
                          arena->bytes());
    together += arena->bytes(); // no overflow: the sum is checked in each iteration
    if (together > kMaxArenaBytes)
      return invalidInput(
          "arenas: expected at most {} bytes together, found more in '{}' and those before it",
          kMaxArenaBytes, text);
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
  const uint64_t alignment =
      plan.arenas()->Get(buffer.arena())->space() == fb::Space::Disk ? kDiskAlignment : kBufferAlignment;
  if (buffer.offset() % alignment != 0)
    return invalidInput("{}: expected an offset that is a multiple of {}, found {}", what, alignment,
                        buffer.offset());
  const uint64_t arena = plan.arenas()->Get(buffer.arena())->bytes();
  if (buffer.offset() > arena || buffer.bytes() > arena - buffer.offset())
    return invalidInput("{}: expected it within the {} bytes of its arena, found {} bytes at {}", what, arena,
                        buffer.bytes(), buffer.offset());
  return {};
}

/// Checks that arenas are as large as the buffers need and no larger, so that a damaged size is found before
/// it is allocated.
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

/// Checks that persistent buffers are disjoint; elsewhere lifetimes decide (see verify_flow.cpp).
Status apart(const fb::Plan &plan) {
  std::vector<const fb::Buffer *> buffers;
  for (const fb::Buffer *buffer : *plan.buffers())
    if (plan.arenas()->Get(buffer->arena())->persistent() && buffer->bytes() > 0)
      buffers.push_back(buffer);
  std::ranges::sort(buffers, {},
                    [](const fb::Buffer *each) { return std::pair(each->arena(), each->offset()); });
  for (size_t i = 1; i < buffers.size(); ++i)
    if (buffers[i]->arena() == buffers[i - 1]->arena() &&
        buffers[i]->offset() < buffers[i - 1]->offset() + buffers[i - 1]->bytes())
      return invalidInput("buffers '{}' and '{}': expected bytes of their own in the persistent arena '{}', "
                          "found some shared, at {}",
                          view(buffers[i - 1]->name()), view(buffers[i]->name()),
                          view(plan.arenas()->Get(buffers[i]->arena())->name()), buffers[i]->offset());
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
