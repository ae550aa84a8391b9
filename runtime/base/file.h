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

/// Gives a file that is written and synced its name, and syncs the folder, so that it stays after a failure
/// of power. Errors (kFailed) name path and reason: either the file is `aside` still, or it has its name and
/// only the sync failed.
Status publishFile(const std::filesystem::path &aside, const std::filesystem::path &path);

/// Writes what a folder lists to its disk. Errors (kFailed) name it.
Status syncFolder(const std::filesystem::path &folder);

/// Writes the concatenation of `parts` to `path`: beside it under a temporary name, synced to disk, then
/// published as replaceableFile(path). On an error (kFailed, with the system's reason) nothing is left
/// behind, and `path` is as before, unless the message says that it was written.
Status writeFileAtomically(const std::filesystem::path &path,
                           std::span<const std::span<const std::byte>> parts);

} // namespace trainc
