// Futexes between processes; std::atomic::wait works only between threads of one process.
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

/// Sleeps while `word` equals `expected`, at most `nanoseconds` (< 1e9); may wake spuriously.
inline void futexWait(const std::atomic<uint32_t> &word, uint32_t expected, long nanoseconds) {
  const timespec limit{.tv_sec = 0, .tv_nsec = nanoseconds};
  (void)syscall(SYS_futex, &word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}

/// Wakes all waiters on `word`, in any process.
inline void futexWakeAll(const std::atomic<uint32_t> &word) {
  (void)syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace trainc
