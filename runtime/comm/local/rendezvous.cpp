#include "runtime/comm/local/rendezvous.h"

#include "runtime/base/clock.h"
#include "runtime/comm/local/futex.h"

#include <immintrin.h>

namespace trainc {

namespace {

/// About 10 us: a peer on another core may be about to come; one on this core needs it.
constexpr int kSpins = 200;

/// How long a rank sleeps at most before it looks for failures and at the missing ranks.
constexpr long kSliceNanoseconds = 20'000'000;

} // namespace

Rendezvous::Rendezvous(const SharedMemory &memory, uint32_t rank, double timeoutSeconds)
    : memory_(memory), rank_(rank), timeout_(timeoutSeconds), watch_(memory.ranks(), timeoutSeconds) {}

bool Rendezvous::arrive() {
  ControlBlock &shared = memory_.control();
  if (memory_.hasFailed())
    return false;
  const uint32_t generation = shared.generation.load(std::memory_order_relaxed); // stays until we arrive
  const bool last = shared.waiting.fetch_add(1, std::memory_order_acq_rel) + 1 == memory_.ranks();
  if (last) {
    shared.waiting.store(0, std::memory_order_relaxed);
    shared.generation.store(generation + 1, std::memory_order_release);
    futexWakeAll(shared.generation);
  }
  // Only now, so that a rank that is stopped while it opens the barrier is one that has not arrived.
  memory_.state(rank_).arrived.fetch_add(1, std::memory_order_relaxed);
  if (last)
    return true;
  for (int i = 0; i < kSpins; ++i) {
    if (shared.generation.load(std::memory_order_acquire) != generation)
      return true;
    _mm_pause();
  }
  return sleep(generation);
}

bool Rendezvous::sleep(uint32_t generation) {
  const std::atomic<uint32_t> &current = memory_.control().generation;
  const uint32_t arrived = memory_.state(rank_).arrived.load(std::memory_order_relaxed);
  watch_.begin();
  for (double before = steadySeconds();;) {
    futexWait(current, generation, kSliceNanoseconds);
    if (current.load(std::memory_order_acquire) != generation)
      return true; // even where the group has failed since: this barrier is whole
    if (memory_.hasFailed())
      return false;
    const double now = steadySeconds();
    for (uint32_t peer = 0; peer < memory_.ranks(); ++peer) {
      const RankState &state = memory_.state(peer);
      const uint32_t progress = state.progress.load(std::memory_order_relaxed);
      const bool stalled = watch_.stalled(peer, progress, now - before);
      if (stalled && state.arrived.load(std::memory_order_relaxed) != arrived) {
        failFor(peer);
        return false;
      }
    }
    before = now;
  }
}

void Rendezvous::failFor(uint32_t missing) {
  memory_.fail(missing,
               fmt::format("it did not arrive within {} s: it has ended, hangs or is stopped", timeout_));
}

} // namespace trainc
