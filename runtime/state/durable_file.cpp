#include "runtime/state/durable_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace trainc {

namespace {

Status systemError(const std::filesystem::path &path, const char *action) {
  return failed("{}: cannot {}: {}", path.string(), action, std::strerror(errno));
}

} // namespace

DurableFile::DurableFile(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}

DurableFile::DurableFile(DurableFile &&other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_),
      hash_(std::move(other.hash_)) {}

DurableFile::~DurableFile() {
  if (fd_ >= 0)
    ::close(fd_);
}

Result<DurableFile> DurableFile::create(const std::filesystem::path &path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return systemError(path, "create");
  return DurableFile(path, fd);
}

Status DurableFile::write(std::span<const std::byte> bytes) {
  hash_.update(bytes);
  size_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      return systemError(path_, "write");
    if (written > 0)
      bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Status DurableFile::close() {
  if (::fsync(fd_) != 0)
    return systemError(path_, "sync");
  if (::close(std::exchange(fd_, -1)) != 0)
    return systemError(path_, "close");
  return {};
}

Status syncFolder(const std::filesystem::path &folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return systemError(folder, "open");
  const int result = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  errno = error;
  return result == 0 ? Status() : systemError(folder, "sync");
}

} // namespace trainc
