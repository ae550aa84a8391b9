// What trainc checks of the files it is given, before any work.
#pragma once

#include "runtime/base/status.h"

#include <filesystem>
#include <string>
#include <vector>

namespace trainc {

/// Refuses a folder, a device or a pipe, which cannot be read to an end or as a whole. What is missing is
/// left to whoever opens it.
Status requireRegularFile(const std::filesystem::path &path);

/// A file of the command line: how messages call it ("-o x.plan"), and where it is.
struct NamedPath {
  std::string what;
  std::filesystem::path path;
};

/// Refuses outputs that would replace an input or one another, whose folder is missing, or that are no
/// regular files.
Status checkOutputs(const std::vector<NamedPath> &outputs, const std::vector<NamedPath> &inputs);

} // namespace trainc
