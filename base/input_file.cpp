#include "base/input_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trainc {

static const char *kindOf(mode_t mode) {
  if (S_ISDIR(mode))
    return "a folder";
  return S_ISFIFO(mode) ? "a pipe" : "a device";
}

Result<InputFile> InputFile::open(const std::filesystem::path &path) {
  InputFile file;
  file.path_ = path.string();
  // O_NONBLOCK keeps open() from waiting for the writer of a pipe. Regular files ignore it.
  file.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.fd_ < 0)
    return invalidInput("{}: cannot open: {}", file.path_, std::strerror(errno));
  struct stat info{};
  if (fstat(file.fd_, &info) != 0)
    return invalidInput("{}: cannot read its size: {}", file.path_, std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return invalidInput("{}: expected a regular file, found {}", file.path_, kindOf(info.st_mode));
  file.size_ = static_cast<uint64_t>(info.st_size);
  return file;
}

InputFile::InputFile(InputFile &&other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

InputFile &InputFile::operator=(InputFile &&other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}

InputFile::~InputFile() {
  if (fd_ >= 0)
    ::close(fd_);
}

Status InputFile::read(uint64_t offset, std::span<std::byte> destination) const {
  while (!destination.empty()) {
    const ssize_t count = ::pread(fd_, destination.data(), destination.size(), static_cast<off_t>(offset));
    if (count == 0)
      return invalidInput("{}: byte {}: the file was truncated while in use; it had {} bytes", path_, offset,
                          size_);
    if (count < 0 && errno != EINTR)
      return failed("{}: byte {}: cannot read: {}", path_, offset, std::strerror(errno));
    if (count > 0) {
      destination = destination.subspan(static_cast<size_t>(count));
      offset += static_cast<uint64_t>(count);
    }
  }
  return {};
}

Result<std::string> readWholeFile(const std::filesystem::path &path, uint64_t maximum) {
  TRAINC_ASSIGN_OR_RETURN(const InputFile file, InputFile::open(path));
  if (file.size() > maximum)
    return invalidInput("{}: expected at most {} bytes, found {}; is it the right file?", file.path(),
                        maximum, file.size());
  std::string content(file.size(), '\0');
  TRAINC_RETURN_IF_ERROR(file.read(0, std::as_writable_bytes(std::span(content))));
  return content;
}

} // namespace trainc
