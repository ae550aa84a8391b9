#include "tools/trainc/Paths.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace trainc {

namespace fs = std::filesystem;

namespace {

const char *kindOf(fs::file_type type) {
  switch (type) {
  case fs::file_type::directory:
    return "a folder";
  case fs::file_type::fifo:
    return "a pipe";
  case fs::file_type::socket:
    return "a socket";
  default:
    return "a device";
  }
}

/// Whether both paths refer to one file, through any links; files that do not exist yet are compared by path.
bool isSame(const fs::path &a, const fs::path &b) {
  std::error_code error;
  if (fs::equivalent(a, b, error))
    return true;
  const fs::path whole = fs::weakly_canonical(fs::absolute(a, error), error);
  return whole == fs::weakly_canonical(fs::absolute(b, error), error);
}

Status checkFolder(const NamedPath &output) {
  const fs::path parent = output.path.parent_path(), folder = parent.empty() ? "." : parent;
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error))
    return invalidInput("{}: '{}' is not a folder; name another", output.what, folder.string());
  if (!fs::is_directory(folder, error))
    return invalidInput("{}: the folder '{}' does not exist; create it, or name another", output.what,
                        folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return invalidInput("{}: cannot write into the folder '{}': {}", output.what, folder.string(),
                        std::strerror(errno));
  return {};
}

} // namespace

Status requireRegularFile(const fs::path &path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status) || fs::is_regular_file(status))
    return {};
  return invalidInput("{}: expected a file, found {}", path.string(), kindOf(status.type()));
}

Status checkOutputs(const std::vector<NamedPath> &outputs, const std::vector<NamedPath> &inputs) {
  for (size_t index = 0; index < outputs.size(); ++index) {
    const NamedPath &output = outputs[index];
    TRAINC_RETURN_IF_ERROR(checkFolder(output));
    if (Status status = requireRegularFile(output.path); !status.ok())
      return invalidInput("{}: {}", output.what, status.message());
    for (const NamedPath &input : inputs)
      if (isSame(output.path, input.path))
        return invalidInput("{} would replace {}; name another file", output.what, input.what);
    for (size_t other = 0; other < index; ++other)
      if (isSame(output.path, outputs[other].path))
        return invalidInput("{} would replace {}; name two files", output.what, outputs[other].what);
  }
  return {};
}

} // namespace trainc
