// Sleeping on a word that other processes change; std::atomic::wait reaches the threads of one process only.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace trainc {

static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == 4);

/// Sleeps while `word` is `expected`, at most `nanoseconds` (< 1e9), until somebody wakes; may wake early.
inline void futexWait(const std::atomic<uint32_t> &word, uint32_t expected, long nanoseconds) {
  const timespec limit{.tv_sec = 0, .tv_nsec = nanoseconds};
  (void)syscall(SYS_futex, &word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}

/// Wakes all that sleep on `word`, in any process.
inline void futexWakeAll(const std::atomic<uint32_t> &word) {
  (void)syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace trainc
