// Text for the standard streams. Nothing here throws: fmt::print to a FILE does, where the stream is full or
// closed.
#pragma once

#include "runtime/base/status.h"

#include <cstdio>
#include <string_view>

namespace trainc {

/// Writes `text` and flushes; false when it did not all arrive. Where that happens to standard error there is
/// nobody left to tell, so callers let it pass.
bool put(std::FILE *stream, std::string_view text);

/// The same for a message, which may quote anybody's file: control characters other than ends of lines and
/// tabs are written as "\x1b".
bool putMessage(std::FILE *stream, std::string_view text);

/// Writes `text` to standard output and flushes. Fails (kFailed) with the system's reason when it did not all
/// arrive.
Status printOutput(std::string_view text);

/// Opens /dev/null on those of descriptors 0 to 2 that the caller of the program closed, lest a file opened
/// later gets their numbers, and with them our messages. For reading only, so that output that is lost still
/// counts as lost. Call it first in main().
void claimStandardStreams();

} // namespace trainc
