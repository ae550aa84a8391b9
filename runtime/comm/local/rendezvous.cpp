#include "runtime/comm/local/rendezvous.h"

#include "base/clock.h"
#include "runtime/comm/local/futex.h"

#include <immintrin.h>

namespace trainc {

namespace {

/// About 10 us: a peer on another core may be about to arrive; a peer on this core needs the CPU.
constexpr int kSpins = 200;

/// Maximum sleep before a rank checks for failures and for missing ranks.
constexpr long kSliceNanoseconds = 20'000'000;

} // namespace

Rendezvous::Rendezvous(const SharedMemory &memory, uint32_t rank, double timeoutSeconds)
    : memory_(memory), rank_(rank), timeout_(timeoutSeconds), peers_(memory.ranks(), timeoutSeconds),
      job_(1, kCircleTimeouts * timeoutSeconds) {}

bool Rendezvous::arrive(const Meeting &meeting) {
  if (memory_.hasFailed())
    return false;
  Barrier &barrier = memory_.barrier(meeting.barrier);
  const uint32_t generation =
      barrier.generation.load(std::memory_order_relaxed); // unchanged until this rank arrives
  const bool last = barrier.waiting.fetch_add(1, std::memory_order_acq_rel) + 1 == meeting.members.count;
  if (last) {
    barrier.waiting.store(0, std::memory_order_relaxed);
    barrier.generation.store(generation + 1, std::memory_order_release);
    futexWakeAll(barrier.generation);
  }
  // Counted after the barrier is opened: a rank that is stopped while opening it counts as not arrived.
  memory_.state(rank_).arrived[meeting.counter].fetch_add(1, std::memory_order_relaxed);
  if (last)
    return true;
  for (int i = 0; i < kSpins; ++i) {
    if (barrier.generation.load(std::memory_order_acquire) != generation)
      return true;
    _mm_pause();
  }
  return sleep(meeting, generation);
}

bool Rendezvous::sleep(const Meeting &meeting, uint32_t generation) {
  const std::atomic<uint32_t> &current = memory_.barrier(meeting.barrier).generation;
  peers_.begin();
  job_.begin();
  for (double before = steadySeconds();;) {
    futexWait(current, generation, kSliceNanoseconds);
    if (current.load(std::memory_order_acquire) != generation)
      return true; // this barrier is complete, even if a rank has failed since
    memory_.state(rank_).waits.fetch_add(1, std::memory_order_relaxed);
    const double now = steadySeconds();
    if (memory_.hasFailed() || foundFault(meeting, now - before))
      return false;
    before = now;
  }
}

/// The kind of wait does not tell which rank is missing, so all others are watched.
bool Rendezvous::watch(bool begins) {
  const double now = steadySeconds();
  if (begins) {
    peers_.begin();
    job_.begin();
    watched_ = now;
  }
  const double seconds = now - watched_;
  watched_ = now;
  memory_.state(rank_).waits.fetch_add(1, std::memory_order_relaxed);
  const bool allWait = everyoneWaits(seconds);
  for (uint32_t peer = 0; peer < memory_.ranks() && !memory_.hasFailed(); ++peer)
    if (peer != rank_ && isStalled(peer, seconds))
      memory_.fail(peer, stalledReason(timeout_));
  if (allWait && !memory_.hasFailed())
    memory_.fail(rank_, elsewhereReason(kCircleTimeouts * timeout_));
  return !memory_.hasFailed();
}

bool Rendezvous::isStalled(uint32_t peer, double seconds) {
  const RankState &state = memory_.state(peer);
  const uint32_t alive =
      state.progress.load(std::memory_order_relaxed) + state.waits.load(std::memory_order_relaxed);
  return peers_.stalled(peer, alive, seconds);
}

/// Finds and fails the rank at fault for a long wait. A rank that itself waits is not at fault, unless all
/// wait.
bool Rendezvous::foundFault(const Meeting &meeting, double seconds) {
  const bool allWait = everyoneWaits(seconds);
  const Members &members = meeting.members;
  bool found = false;
  for (uint32_t place = 0; place < members.count && !found; ++place) {
    const uint32_t peer = members.rankAt(place);
    const bool stalled = isStalled(peer, seconds);
    const bool left =
        memory_.state(peer).left.load(std::memory_order_acquire); // read before the arrival counters
    if (!(left || stalled || allWait) || !isMissing(peer, meeting))
      continue;
    found = true;
    memory_.fail(peer, left ? kLeftReason : stalled ? stalledReason(timeout_) : kCircleReason);
  }
  return found;
}

/// Whether the peer has arrived at fewer of the meeting's barriers than this rank, which waits at one.
bool Rendezvous::isMissing(uint32_t peer, const Meeting &meeting) const {
  const auto arrived = [&](uint32_t rank) {
    return memory_.state(rank).arrived[meeting.counter].load(std::memory_order_relaxed);
  };
  return arrived(peer) != arrived(rank_);
}

/// Whether no rank has made progress for too long.
bool Rendezvous::everyoneWaits(double seconds) {
  uint32_t progress = 0;
  for (uint32_t rank = 0; rank < memory_.ranks(); ++rank)
    progress += memory_.state(rank).progress.load(std::memory_order_relaxed);
  return job_.stalled(0, progress, seconds);
}

} // namespace trainc
