// Writing files so that a reader sees the old or the new content, never a part.
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <filesystem>
#include <span>

namespace trainc {

/// Writes the concatenation of `parts` to `path`: beside it under a temporary name, synced to disk, then
/// renamed. On an error (kFailed, with the system's reason) `path` is as before and nothing is left behind.
Status writeFileAtomically(const std::filesystem::path &path,
                           std::span<const std::span<const std::byte>> parts);

} // namespace trainc
