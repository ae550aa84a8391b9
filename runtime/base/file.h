// Writing files so that a reader sees the old or the new content, never a part.
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <filesystem>
#include <span>

namespace trainc {

/// The file that a new one replaces when it is renamed to what the user called `path`: symbolic links are
/// followed, so that they stay. Fails (kInvalidInput) where a device, a pipe or a folder is called so:
/// renaming would remove it.
Result<std::filesystem::path> replaceableFile(const std::filesystem::path &path);

/// Writes the concatenation of `parts` to `path`: beside it under a temporary name, synced to disk, then
/// renamed to replaceableFile(path). On an error (kFailed, with the system's reason) `path` is as before and
/// nothing is left behind.
Status writeFileAtomically(const std::filesystem::path &path,
                           std::span<const std::span<const std::byte>> parts);

} // namespace trainc
