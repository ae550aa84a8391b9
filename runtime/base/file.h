// Writing files so that a reader sees the old or the new content, never a part.
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <filesystem>
#include <span>

namespace trainc {

/// Whether two paths lead to one file, which need not exist.
bool isSameFile(const std::filesystem::path &a, const std::filesystem::path &b);

/// Fails (kInvalidInput) where `path` is there and no file, such as a folder or /dev/null: what is renamed
/// over it would take its place.
Status checkReplaceable(const std::filesystem::path &path);

/// Writes the concatenation of `parts` to `path`: beside it under a temporary name, synced to disk, then
/// renamed. On an error (kFailed, with the system's reason; that of checkReplaceable) `path` is as before and
/// nothing is left behind.
Status writeFileAtomically(const std::filesystem::path &path,
                           std::span<const std::span<const std::byte>> parts);

} // namespace trainc
