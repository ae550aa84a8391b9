// File names on the command line.
#pragma once

#include "runtime/base/status.h"

#include <filesystem>
#include <vector>

namespace trainc {

/// The files that `patterns` name, in their order: a pattern that is an existing path stands for itself, any
/// other may hold *, ? and [...] and stands for its matches in byte order. Fails (kInvalidInput) where
/// nothing matches.
Result<std::vector<std::filesystem::path>> expandPatterns(const std::vector<std::string> &patterns);

} // namespace trainc
