// Threads: starting them where a limit may be reached, and the stack that the system lets them have.
#pragma once

#include "runtime/base/status.h"

#include <system_error>
#include <thread>
#include <utility>

namespace trainc {

/// A thread that runs `work`; one that is not joinable where the system starts no more.
template <typename Work> std::thread tryStartThread(Work work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error &) {
    return {};
  }
}

/// Raises the limit of the stack to 8 MiB, of this thread and of those that it starts, if it is lower and may
/// be raised. Fails (kFailed) where less than 1 MiB is allowed. Call it at the start of main().
Status ensureStack();

} // namespace trainc
