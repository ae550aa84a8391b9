#include "runtime/base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace trainc {

namespace {

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

Status writeFileAtomically(const std::filesystem::path &path,
                           std::span<const std::span<const std::byte>> parts) {
  const std::string aside = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  int error = writeSynced(aside.c_str(), parts);
  if (error == 0 && std::rename(aside.c_str(), path.c_str()) != 0)
    error = errno;
  if (error == 0)
    return {};
  ::unlink(aside.c_str());
  return failed("{}: cannot write: {}", path.string(), std::strerror(error));
}

} // namespace trainc
