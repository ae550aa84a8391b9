// Thread creation that survives resource limits, and the stack size of threads.
#pragma once

#include "base/status.h"

#include <system_error>
#include <thread>
#include <utility>

namespace trainc {

/// Starts a thread that runs `work`. Returns a thread that is not joinable if the system cannot start
/// another.
template <typename Work> std::thread tryStartThread(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error &) {
    return {};
  }
}

/// Raises the stack limit to 8 MiB, if it is lower and may be raised, for this thread and the threads it
/// starts. Fails with kFailed if less than 1 MiB is allowed. Call it at the start of main().
Status ensureStack();

} // namespace trainc
