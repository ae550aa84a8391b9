#include "runtime/state/durable_file.h"

#include "base/file.h"

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
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

DurableFile::~DurableFile() {
  if (fd_ >= 0)
    ::close(fd_);
}

Result<DurableFile> DurableFile::create(const std::filesystem::path &path, uint64_t bytes) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return systemError(path, "create");
  DurableFile file(path, fd);
  const auto size = static_cast<off_t>(bytes);
  if (bytes == 0 || ::fallocate(fd, 0, 0, size) == 0)
    return file;
  // Some file systems cannot reserve space; on these a full disk is detected by the writes.
  if ((errno != EOPNOTSUPP && errno != ENOSYS) || ::ftruncate(fd, size) != 0)
    return systemError(path, "write");
  return file;
}

Result<DurableFile> DurableFile::open(const std::filesystem::path &path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0)
    return systemError(path, "open");
  return DurableFile(path, fd);
}

Status DurableFile::write(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno != EINTR)
      return systemError(path_, "write");
    if (written > 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
      offset += static_cast<uint64_t>(written);
    }
  }
  return {};
}

Status DurableFile::read(uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got == 0)
      return failed("{}: cannot read: it has become shorter", path_.string());
    if (got < 0 && errno != EINTR)
      return systemError(path_, "read");
    if (got > 0) {
      bytes = bytes.subspan(static_cast<size_t>(got));
      offset += static_cast<uint64_t>(got);
    }
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

Status writeDurableFile(const std::filesystem::path &path, std::span<const std::byte> bytes) {
  TRAINC_ASSIGN_OR_RETURN(DurableFile file, DurableFile::create(path, bytes.size()));
  TRAINC_RETURN_IF_ERROR(file.write(0, bytes));
  return file.close();
}

Result<ReplacingFile> ReplacingFile::create(const std::filesystem::path &path, uint64_t bytes) {
  TRAINC_ASSIGN_OR_RETURN(std::filesystem::path target, replaceableFile(path));
  std::filesystem::path aside = fmt::format("{}.{}.tmp", target.string(), ::getpid());
  Result<DurableFile> file = DurableFile::create(aside, bytes);
  if (!file.ok()) {
    ::unlink(aside.c_str());
    return file.status();
  }
  return ReplacingFile(std::move(target), std::move(aside), std::move(*file));
}

ReplacingFile::ReplacingFile(ReplacingFile &&other) noexcept
    : target_(std::move(other.target_)), aside_(std::exchange(other.aside_, {})),
      file_(std::move(other.file_)) {}

ReplacingFile::~ReplacingFile() {
  if (!aside_.empty())
    ::unlink(aside_.c_str());
}

Status ReplacingFile::publish() {
  TRAINC_RETURN_IF_ERROR(file_.close());
  const Status status = publishFile(aside_, target_);
  if (status.ok())
    aside_.clear();
  return status;
}

} // namespace trainc
