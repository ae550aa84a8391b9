// Output files of a run; each run overwrites its own.
#pragma once

#include "base/descriptor.h"
#include "base/status.h"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace trainc {

/// Properties by which output files of one kind are recognised.
struct OutputKind {
  std::string_view option;    ///< before the file's name in messages: "--trace="
  std::string_view what;      ///< "a trace"
  std::string_view beginning; ///< prefix of every file of this kind that the program has written
};

/// Error (kInvalidInput) of an output `option`: the file `path` holds something else than `what`.
Status otherContent(std::string_view option, const std::filesystem::path &path, std::string_view what);

/// Size of the regular file at `path`; 0 if there is none.
uint64_t bytesToLose(const std::filesystem::path &path);

/// Fails with kInvalidInput if `path` is a regular file with other content, which would be lost.
Status requireKind(const std::filesystem::path &path, const OutputKind &kind);

/// Opens a file for writing, creating it if needed. Does not block on a pipe without a reader. Fails with
/// kInvalidInput; the message begins with `option` and the path.
Result<Descriptor> openForWriting(std::string_view option, const std::filesystem::path &path);

/// Opens an output file of one kind without truncating it. Fails like requireKind() if it holds other
/// content. Devices and pipes count as empty; a pipe must have a reader.
Result<Descriptor> openOutput(const std::filesystem::path &path, const OutputKind &kind);

} // namespace trainc
