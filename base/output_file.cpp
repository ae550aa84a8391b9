#include "base/output_file.h"

#include "base/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <span>

namespace trainc {

namespace {

/// Whether a regular file is empty or begins with the prefix of its kind.
Result<bool> isOfKind(const std::filesystem::path &path, const OutputKind &kind) {
  TRAINC_ASSIGN_OR_RETURN(const InputFile file, InputFile::open(path));
  std::string text(std::min<uint64_t>(file.size(), kind.beginning.size()), '\0');
  TRAINC_RETURN_IF_ERROR(file.read(0, std::as_writable_bytes(std::span(text))));
  return text.empty() || text == kind.beginning;
}

/// Explains why a file cannot be opened and what to do. `error` is the errno.
std::string whyNotOpen(const std::filesystem::path &path, int error) {
  std::error_code ignored;
  const std::filesystem::path folder = path.parent_path();
  if ((error == ENOENT || error == ENOTDIR) && !folder.empty() &&
      !std::filesystem::is_directory(folder, ignored))
    return fmt::format("there is no folder '{}'; create it, or name another", folder.string());
  if (error == EISDIR)
    return "expected a file, found a folder";
  if (error == ENXIO && std::filesystem::is_fifo(path, ignored))
    return "a pipe that nobody reads; start its reader first";
  if (error == ENXIO && std::filesystem::is_socket(path, ignored))
    return "expected a file, found a socket; name a file or a pipe";
  return fmt::format("cannot open for writing: {}; name another file", std::strerror(error));
}

} // namespace

Status otherContent(std::string_view option, const std::filesystem::path &path, std::string_view what) {
  return invalidInput("{}{}: the file holds something else than {}, which would be lost; give another name, "
                      "or delete it",
                      option, path.string(), what);
}

uint64_t bytesToLose(const std::filesystem::path &path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return 0;
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

Status requireKind(const std::filesystem::path &path, const OutputKind &kind) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return {};
  TRAINC_ASSIGN_OR_RETURN(const bool fits, isOfKind(path, kind));
  return fits ? Status() : otherContent(kind.option, path, kind.what);
}

Result<Descriptor> openForWriting(std::string_view option, const std::filesystem::path &path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
  if (!file)
    return invalidInput("{}{}: {}", option, path.string(), whyNotOpen(path, errno));
  ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
  return file;
}

Result<Descriptor> openOutput(const std::filesystem::path &path, const OutputKind &kind) {
  TRAINC_ASSIGN_OR_RETURN(Descriptor file, openForWriting(kind.option, path));
  TRAINC_RETURN_IF_ERROR(requireKind(path, kind));
  return file;
}

} // namespace trainc
