// Checks of states: the contents of checkpoints, and their offsets in flat tensors.
#include "plan/facts/dtype.h"
#include "plan/facts/mesh.h"
#include "plan/facts/state.h"
#include "plan/schema/enum_words.h"
#include "plan/verify/verifier.h"
#include "plan/verify/verify.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace trainc::verify {

namespace {

std::string nameOf(const fb::State &state) { return fmt::format("state '{}'", view(state.name())); }

/// Elements of the flat tensor that contains the state.
uint64_t flatElements(const fb::Plan &plan, const fb::State &state) {
  const uint64_t held = plan.buffers()->Get(state.buffer())->bytes() / elementBytes(state.dtype());
  return held * shardsOf(plan, state); // arena bytes times the maximum number of ranks: no overflow
}

Status liesInBuffer(const fb::Plan &plan, const fb::State &state) {
  const std::string what = nameOf(state);
  if (state.buffer() >= plan.buffers()->size())
    return invalidInput("{}: expected a buffer below {}, found {}", what, plan.buffers()->size(),
                        state.buffer());
  const fb::Buffer &buffer = *plan.buffers()->Get(state.buffer());
  if (state.dtype() != buffer.dtype())
    return invalidInput("{}: expected the dtype of its buffer, {}, found {}", what, dtypeName(buffer.dtype()),
                        dtypeName(state.dtype()));
  if (state.sharded())
    TRAINC_RETURN_IF_ERROR(axes(plan, axesOf(*state.sharded()), what));
  if (state.sharded() && buffer.bytes() % elementBytes(state.dtype()) != 0)
    return invalidInput(
        "{}: expected a buffer of whole elements where ranks hold parts, found {} bytes of {}", what,
        buffer.bytes(), dtypeName(state.dtype()));
  const uint64_t flat = flatElements(plan, state), count = elements(*state.shape());
  if (count == 0 || count > flat || state.offset() > flat - count)
    return invalidInput("{}: expected it within the {} elements of its flat tensor, found {} at {}", what,
                        flat, count, state.offset());
  const fb::Arena &arena = *plan.arenas()->Get(buffer.arena());
  if (!arena.persistent())
    return invalidInput("{}: expected it in a persistent arena, found it in '{}'", what, view(arena.name()));
  return {};
}

Status state(const fb::Plan &plan, const fb::State &state) {
  TRAINC_RETURN_IF_ERROR(name(view(state.name()), "a state"));
  if (view(state.name()) == "__metadata__")
    return invalidInput("{}: expected another name: in safetensors files this one stands for something else",
                        nameOf(state));
  TRAINC_RETURN_IF_ERROR(liesInBuffer(plan, state));
  if (state.role() != fb::Role::Parameter && state.role() != fb::Role::Optimizer)
    return invalidInput("{}: expected the role parameter or optimizer, found {}", nameOf(state),
                        wordOf(state.role()));
  const fb::Role role = plan.buffers()->Get(state.buffer())->role();
  if (state.role() != role)
    return invalidInput("{}: expected the role of its buffer, {}, found {}", nameOf(state), wordOf(role),
                        wordOf(state.role()));
  return {};
}

Axes shardedAlong(const fb::State &state) { return state.sharded() ? axesOf(*state.sharded()) : Axes(); }

/// Checks that the states of one flat tensor follow each other, so that a damaged shape or offset is found:
/// with little alignment padding before each, and padding at the end that makes the ranks' shards equal.
Status neighbours(const fb::Plan &plan, std::vector<const fb::State *> &states) {
  std::ranges::sort(states, {}, [](const fb::State *each) { return each->offset(); });
  const fb::State &first = *states.front();
  const uint64_t element = elementBytes(first.dtype());
  uint64_t end = 0;
  for (const fb::State *each : states) {
    if (shardedAlong(*each) != shardedAlong(first))
      return invalidInput("{} and {}: expected both sharded over the same axes: they share a buffer",
                          nameOf(first), nameOf(*each));
    if (each->offset() < end || (each->offset() - end) * element >= kPartSlack)
      return invalidInput("{}: expected it to begin at element {} of its flat tensor, or less than {} bytes "
                          "after it, found {}",
                          nameOf(*each), end, kPartSlack, each->offset());
    end = each->offset() + elements(*each->shape());
  }
  const uint64_t left = (flatElements(plan, first) - end) * element;
  const uint64_t slack = plan.ranks() == 1 ? kChunkSlack : plan.ranks() * kPartSlack;
  if (left >= slack)
    return invalidInput("{}: expected its buffer to end less than {} bytes after it, found {}",
                        nameOf(*states.back()), slack, left);
  return {};
}

} // namespace

Status states(const fb::Plan &plan) {
  std::set<std::string_view> found;
  std::map<uint32_t, std::vector<const fb::State *>> flat;
  for (const fb::State *each : *plan.states()) {
    TRAINC_RETURN_IF_ERROR(state(plan, *each));
    if (!found.insert(view(each->name())).second)
      return invalidInput("{}: expected it once, found it twice", nameOf(*each));
    flat[each->buffer()].push_back(each);
  }
  for (auto &[buffer, members] : flat)
    TRAINC_RETURN_IF_ERROR(neighbours(plan, members));
  return {};
}

} // namespace trainc::verify
