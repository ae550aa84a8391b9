// Output to the standard streams. Nothing here throws; fmt::print to a FILE throws if the stream is full or
// closed.
#pragma once

#include "base/status.h"

#include <cstdio>
#include <string>
#include <string_view>

namespace trainc {

/// Writes `text` and flushes; returns false if not all of it was written. Callers ignore the result for
/// standard error, because nothing is left to report to.
bool put(std::FILE *stream, std::string_view text);

/// A message as it is shown: escapes what printable() escapes except newline and tab, because a message may
/// quote untrusted files, and shortens words of more bytes than a path may have.
std::string shownMessage(std::string_view text);

/// Writes shownMessage() of a text like put().
bool putMessage(std::FILE *stream, std::string_view text);

/// Writes `text` unchanged to standard output and flushes. Fails with kFailed and the system's reason if not
/// all of it was written.
Status printOutput(std::string_view text);

/// Writes text that may quote untrusted files like printOutput(), escaped as messages are.
Status printText(std::string_view text);

/// Opens /dev/null on each of descriptors 0 to 2 that the calling program had closed, so that no file opened
/// later gets these numbers and receives our messages. Opened read-only, so that lost output is still
/// detected. Call it first in main().
void claimStandardStreams();

} // namespace trainc
