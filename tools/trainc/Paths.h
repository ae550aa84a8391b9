// Checks of input and output paths, before any work.
#pragma once

#include "base/status.h"

#include <filesystem>
#include <string>
#include <vector>

namespace trainc {

/// Fails if the path is a folder, a device or a pipe. A missing file is left to the later open().
Status requireRegularFile(const std::filesystem::path &path);

/// A file of the command line: its name in messages ("-o x.plan"), and its path.
struct NamedPath {
  std::string what;
  std::filesystem::path path;
};

/// Fails if an output would replace an input or another output, if its folder is missing, or if it is not a
/// regular file.
Status checkOutputs(const std::vector<NamedPath> &outputs, const std::vector<NamedPath> &inputs);

} // namespace trainc
