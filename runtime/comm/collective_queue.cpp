#include "runtime/comm/collective_queue.h"

#include "runtime/base/clock.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace trainc {

CollectiveQueue::CollectiveQueue(uint32_t slots) : slots_(slots + 1), order_(std::bit_ceil(slots + 2)) {}

void CollectiveQueue::start(uint32_t index, const Collective &collective) {
  Slot &slot = slots_[index];
  assert(slot.state.load() != State::kInFlight && "a slot is waited for before it is used again");
  slot.collective = collective;
  slot.state.store(State::kInFlight, std::memory_order_relaxed);
  put(index);
}

void CollectiveQueue::put(uint32_t slot) {
  order_[started_++ % order_.size()] = slot;
  waiting_.release();
}

bool CollectiveQueue::wait(uint32_t index) {
  const Slot &slot = slots_[index];
  const double begin = steadySeconds(), underWay = clock_.at(begin);
  slot.state.wait(State::kInFlight, std::memory_order_acquire);
  if (slot.endedAt > begin) {
    waited_ += slot.endedAt - begin;
    exposed_ += std::max(0.0, slot.underWayAtEnd - underWay);
  }
  return slot.state.load(std::memory_order_acquire) == State::kDone;
}

std::string CollectiveQueue::describe(uint32_t slot) const {
  const std::string text = trainc::describe(slots_[slot].collective);
  return slot == barrierSlot() ? text : fmt::format("{} (slot {})", text, slot);
}

bool CollectiveQueue::anyInFlight() const {
  return std::ranges::any_of(slots_, [](const Slot &slot) { return slot.state.load() == State::kInFlight; });
}

void CollectiveQueue::stop() { put(kStop); }

std::optional<uint32_t> CollectiveQueue::nextWithin(std::chrono::milliseconds time) {
  if (!waiting_.try_acquire_for(time))
    return std::nullopt;
  return order_[taken_++ % order_.size()];
}

void CollectiveQueue::noteUnderWay() { clock_.begin(steadySeconds()); }

void CollectiveQueue::finish(uint32_t index, bool done) {
  Slot &slot = slots_[index];
  slot.endedAt = steadySeconds();
  slot.underWayAtEnd = clock_.end(slot.endedAt);
  slot.state.store(done ? State::kDone : State::kFailed, std::memory_order_release);
  slot.state.notify_one();
}

CommunicationSeconds CollectiveQueue::seconds() const {
  return {.waited = waited_, .underWay = clock_.at(steadySeconds()), .exposed = exposed_};
}

} // namespace trainc
