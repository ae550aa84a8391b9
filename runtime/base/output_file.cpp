#include "runtime/base/output_file.h"

#include "runtime/base/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <span>

namespace trainc {

namespace {

/// Whether a regular file is empty, or begins as all of the kind do.
Result<bool> isOfKind(const std::filesystem::path &path, const OutputKind &kind) {
  TRAINC_ASSIGN_OR_RETURN(const InputFile file, InputFile::open(path));
  std::string text(std::min<uint64_t>(file.size(), kind.beginning.size()), '\0');
  TRAINC_RETURN_IF_ERROR(file.read(0, std::as_writable_bytes(std::span(text))));
  return text.empty() || text == kind.beginning;
}

} // namespace

Status requireKind(const std::filesystem::path &path, const OutputKind &kind) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return {};
  TRAINC_ASSIGN_OR_RETURN(const bool fits, isOfKind(path, kind));
  if (fits)
    return {};
  return invalidInput("{}{}: the file holds something else than {}, which would be lost; give another name, "
                      "or delete it",
                      kind.option, path.string(), kind.what);
}

int openWithoutWaiting(const std::filesystem::path &path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file >= 0)
    ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
  return file;
}

Result<Descriptor> openOutput(const std::filesystem::path &path, const OutputKind &kind) {
  Descriptor file(openWithoutWaiting(path));
  if (!file && errno == ENXIO)
    return invalidInput("{}{}: a pipe that nobody reads; start its reader first", kind.option, path.string());
  if (!file)
    return invalidInput("{}{}: cannot open for writing: {}; name a file in a folder that is there",
                        kind.option, path.string(), std::strerror(errno));
  TRAINC_RETURN_IF_ERROR(requireKind(path, kind));
  return file;
}

} // namespace trainc
