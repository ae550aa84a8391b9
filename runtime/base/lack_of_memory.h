// What a process says that has no memory left, in place of "Aborted".
#pragma once

#include <string_view>

namespace trainc {

/// Says "error: what: reason" and ends the process with code 1. Allocates nothing, as there may be nothing
/// left. Of several threads one speaks.
[[noreturn]] void giveUp(std::string_view what, std::string_view reason);

/// What to say before "out of memory".
inline constexpr std::string_view kNoMemory =
    "the system gives no more memory (see ulimit -v and -d, and the container's limit)";

/// From now on, an allocation that fails ends the process with giveUp(), instead of an exception.
void giveUpWithoutMemory();

/// From now on, an allocation that fails ends the process so if nobody catches the exception.
void giveUpWithoutMemoryUnlessCaught();

} // namespace trainc
