#include "runtime/comm/collective_queue.h"

#include "base/clock.h"

#include <algorithm>
#include <cassert>

namespace trainc {

CollectiveQueue::CollectiveQueue(uint32_t inFlight) : ring_(std::max(inFlight, 1u)) {}

Ticket CollectiveQueue::start(const Collective &collective) {
  const Ticket ticket = started_.load(std::memory_order_relaxed);
  assert(ticket - ended_.load() < ring_.size() && "there is room for all that are in flight");
  flight(ticket).collective = collective;
  started_.store(ticket + 1, std::memory_order_release);
  waiting_.release();
  return ticket;
}

bool CollectiveQueue::wait(Ticket ticket) {
  const double begin = steadySeconds(), timeInFlight = clock_.at(begin);
  Ticket ended = ended_.load(std::memory_order_acquire);
  const bool inFlight = ended <= ticket;
  for (; ended <= ticket; ended = ended_.load(std::memory_order_acquire))
    ended_.wait(ended, std::memory_order_acquire);
  if (inFlight) {
    const Flight &done = flight(ticket);
    waited_ += std::max(0.0, done.endedAt - begin);
    exposed_ += std::max(0.0, done.inFlightAtEnd - timeInFlight);
  }
  return ticket < firstFailed_.load(std::memory_order_acquire);
}

void CollectiveQueue::stop() {
  stopped_.store(true, std::memory_order_release);
  waiting_.release();
}

const Collective *CollectiveQueue::nextWithin(std::chrono::milliseconds time) {
  if (!waiting_.try_acquire_for(time) || taken_ == started_.load(std::memory_order_acquire))
    return nullptr;
  return &flight(taken_++).collective;
}

void CollectiveQueue::noteInFlight() {
  inFlightSince_ = steadySeconds();
  clock_.begin(inFlightSince_);
}

void CollectiveQueue::finish(bool done) {
  Flight &last = flight(taken_ - 1);
  last.endedAt = steadySeconds();
  last.inFlightAtEnd = clock_.end(last.endedAt);
  if (done && last.collective.ran)
    *last.collective.ran = {inFlightSince_, last.endedAt};
  if (!done && firstFailed_.load(std::memory_order_relaxed) == kNone)
    firstFailed_.store(taken_ - 1, std::memory_order_relaxed);
  ended_.store(taken_, std::memory_order_release);
  ended_.notify_all();
}

CommunicationSeconds CollectiveQueue::seconds() const {
  return {.waited = waited_, .inFlight = clock_.at(steadySeconds()), .exposed = exposed_};
}

} // namespace trainc
