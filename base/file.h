// Atomic file replacement: a reader sees either the old or the new content.
#pragma once

#include "base/status.h"

#include <cstddef>
#include <filesystem>
#include <span>

namespace trainc {

/// Returns the path to rename a new file to in order to replace `path`: symbolic links are followed, so that
/// the links survive. Fails with kInvalidInput if `path` is a device, a pipe or a folder, because renaming
/// would remove it.
Result<std::filesystem::path> replaceableFile(const std::filesystem::path &path);

/// Renames the synced file `aside` to `path` and syncs the folder, so that the new name survives a power
/// failure. Errors (kFailed) name path and reason; after an error either `aside` is unchanged, or the rename
/// succeeded and only the sync failed.
Status publishFile(const std::filesystem::path &aside, const std::filesystem::path &path);

/// Syncs the directory entries of `folder` to disk. Errors (kFailed) name the folder.
Status syncFolder(const std::filesystem::path &folder);

/// Writes the concatenation of `parts` to a temporary file in the same folder, syncs it, and publishes it as
/// replaceableFile(path). After an error (kFailed, with the system's reason) the temporary file is removed
/// and `path` is unchanged, unless the message says that it was written.
Status writeFileAtomically(const std::filesystem::path &path,
                           std::span<const std::span<const std::byte>> parts);

} // namespace trainc
