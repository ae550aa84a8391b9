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

/// Opens a file for writing, and makes it where there is none. A pipe that nobody reads is not waited for.
/// Fails (kInvalidInput) with what was found, behind `option` and the path.
Result<Descriptor> openForWriting(std::string_view option, const std::filesystem::path &path);

/// The same for a file of one kind. What it holds stays until the caller drops it. Fails also when it holds
/// something else, which would be lost. Devices and pipes hold nothing; a pipe must have a reader.
Result<Descriptor> openOutput(const std::filesystem::path &path, const OutputKind &kind);

} // namespace trainc
