// Files of a run's results, which begin anew with each run.
#pragma once

#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

#include <filesystem>
#include <string_view>

namespace trainc {

/// What files of one kind are recognised by.
struct OutputKind {
  std::string_view option;    ///< before the file's name in messages: "--trace="
  std::string_view what;      ///< "a trace"
  std::string_view beginning; ///< of the text of each that this program has written
};

/// Fails (kInvalidInput) when a regular file holds something else, which would be lost.
Status requireKind(const std::filesystem::path &path, const OutputKind &kind);

/// Opens a file for writing, and makes it where there is none: its descriptor, or -1 with the reason in
/// errno. A pipe that nobody reads is not waited for (ENXIO).
int openWithoutWaiting(const std::filesystem::path &path);

/// Opens such a file for writing, and makes it where there is none. What it holds stays until the caller
/// drops it. Fails (kInvalidInput) when it cannot be opened, and when it holds something else, which would be
/// lost. Devices and pipes hold nothing; a pipe must have a reader.
Result<Descriptor> openOutput(const std::filesystem::path &path, const OutputKind &kind);

} // namespace trainc
