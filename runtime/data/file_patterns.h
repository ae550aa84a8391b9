// Glob patterns of the command line.
#pragma once

#include "base/status.h"

#include <filesystem>
#include <vector>

namespace trainc {

/// Files that match `patterns`, in order: an existing path stands for itself, any other pattern may contain
/// *, ? and [...] and expands to its matches in byte order, without the JSON sidecars of other matches. Fails
/// with kInvalidInput if a pattern matches nothing.
Result<std::vector<std::filesystem::path>> expandPatterns(const std::vector<std::string> &patterns);

} // namespace trainc
