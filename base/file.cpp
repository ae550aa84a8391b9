#include "base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace trainc {

namespace {

/// Maximum number of symbolic links that are followed; the same as Linux's.
constexpr int kMaxLinks = 40;

/// 0, or the errno of the first write that failed.
int writeAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      return errno;
    if (written > 0)
      bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

/// 0, or the errno of what failed.
int writeSynced(const char *path, std::span<const std::span<const std::byte>> parts) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return errno;
  int error = 0;
  for (size_t i = 0; i < parts.size() && error == 0; ++i)
    error = writeAll(fd, parts[i]);
  if (error == 0 && ::fsync(fd) != 0)
    error = errno;
  if (::close(fd) != 0 && error == 0)
    error = errno;
  return error;
}

} // namespace

Result<std::filesystem::path> replaceableFile(const std::filesystem::path &path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return invalidInput("{}: cannot be replaced by a file: it is a folder, a pipe or a device",
                        path.string());
  std::filesystem::path target = path;
  for (int links = 0; links < kMaxLinks && std::filesystem::is_symlink(target, error); ++links)
    target = target.parent_path() / std::filesystem::read_symlink(target, error);
  return target;
}

Status writeFileAtomically(const std::filesystem::path &path,
                           std::span<const std::span<const std::byte>> parts) {
  TRAINC_ASSIGN_OR_RETURN(const std::filesystem::path target, replaceableFile(path));
  const std::string aside = fmt::format("{}.{}.tmp", target.string(), ::getpid());
  if (const int error = writeSynced(aside.c_str(), parts); error != 0) {
    ::unlink(aside.c_str());
    return failed("{}: cannot write: {}", path.string(), std::strerror(error));
  }
  const Status status = publishFile(aside, target);
  if (!status.ok())
    ::unlink(aside.c_str()); // no such file if the rename succeeded
  return status;
}

Status publishFile(const std::filesystem::path &aside, const std::filesystem::path &path) {
  if (std::rename(aside.c_str(), path.c_str()) != 0)
    return failed("{}: cannot write: cannot rename {}: {}", path.string(), aside.string(),
                  std::strerror(errno));
  const std::filesystem::path parent = path.parent_path();
  const Status synced = syncFolder(parent.empty() ? "." : parent);
  if (synced.ok())
    return {};
  return failed("{}: was written, but may be gone after a failure of power: {}", path.string(),
                synced.message());
}

Status syncFolder(const std::filesystem::path &folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == EACCES) // the folder is writable but not readable
    return {};
  if (fd < 0)
    return failed("{}: cannot open: {}", folder.string(), std::strerror(errno));
  int error = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (error == EINVAL || error == ENOTSUP || error == ENOSYS) // the file system syncs no folders
    error = 0;
  return error == 0 ? Status() : failed("{}: cannot sync: {}", folder.string(), std::strerror(error));
}

} // namespace trainc
