// Out-of-memory handling: a message and exit code 1 instead of "Aborted".
#pragma once

#include <string_view>

namespace trainc {

/// Prints "error: what: reason" and ends the process with exit code 1. Does not allocate. If several threads
/// call it, only one prints.
[[noreturn]] void giveUp(std::string_view what, std::string_view reason);

/// Reason for messages about a failed allocation.
inline constexpr std::string_view kNoMemory =
    "the system gives no more memory (see ulimit -v and -d, and the container's limit)";

/// Makes every failed allocation end the process with giveUp() instead of throwing an exception.
void giveUpWithoutMemory();

/// Makes an uncaught std::bad_alloc end the process with giveUp().
void giveUpWithoutMemoryUnlessCaught();

} // namespace trainc
