#include "runtime/device/disk_arena.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace trainc {

namespace {

/// Whether the file was read and written past the page cache, and from now on is not.
bool leftDirect(int file) {
  const int flags = fcntl(file, F_GETFL);
  return flags >= 0 && (flags & O_DIRECT) != 0 && fcntl(file, F_SETFL, flags & ~O_DIRECT) == 0;
}

/// Calls `transfer(done)` for what is left of `bytes` until all is done; pread and pwrite may do less at
/// once.
template <typename Transfer>
Status transferAll(int file, std::string_view name, const char *verb, uint64_t bytes, Transfer transfer) {
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t count = transfer(done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EINVAL && leftDirect(file))
      continue; // a disk of larger blocks than plans know
    if (count <= 0)
      return failed("cannot {} {} bytes of arena '{}' on disk: {}", verb, bytes - done, name,
                    count < 0 ? std::strerror(errno) : "the file ends before");
    done += static_cast<uint64_t>(count);
  }
  return {};
}

} // namespace

Result<DiskArena> DiskArena::create(std::string_view name, uint64_t bytes) {
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::temp_directory_path(ignored);
  if (folder.empty())
    folder = "/tmp";
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0)
    return failed("cannot make arena '{}' in {}: {}; name another folder with TMPDIR", name, folder.string(),
                  std::strerror(errno));
  DiskArena arena(name, file, MAP_FAILED, std::max<uint64_t>(bytes, 1));
  if (const int error = posix_fallocate(file, 0, static_cast<off_t>(arena.bytes_)); error != 0)
    return failed("cannot make arena '{}' of {} bytes in {}: {}; name another folder with TMPDIR", name,
                  bytes, folder.string(), std::strerror(error));
  // The page cache would keep in memory what went to disk because memory is short. A plan aligns its copies,
  // and arenas lie on borders (kArenaAlignment), so all that stands against direct I/O is a file system
  // without it. With such a one, transfers go through the cache.
  (void)fcntl(file, F_SETFL, O_DIRECT);
  arena.reserved_ =
      mmap(nullptr, arena.bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena.reserved_ == MAP_FAILED)
    return failed("cannot reserve addresses for the {} bytes of arena '{}': {}", bytes, name,
                  std::strerror(errno));
  return arena;
}

DiskArena::DiskArena(DiskArena &&other) noexcept
    : name_(std::move(other.name_)), file_(std::exchange(other.file_, -1)),
      reserved_(std::exchange(other.reserved_, MAP_FAILED)), bytes_(other.bytes_) {}

DiskArena::~DiskArena() {
  if (reserved_ != MAP_FAILED)
    munmap(reserved_, bytes_);
  if (file_ >= 0)
    close(file_);
}

Status DiskArena::read(std::span<std::byte> destination, DeviceAddress source) const {
  const uint64_t offset = source.value() - address().value();
  return transferAll(file_, name_, "read", destination.size(), [&](uint64_t done) {
    return pread(file_, destination.data() + done, destination.size() - done,
                 static_cast<off_t>(offset + done));
  });
}

Status DiskArena::write(DeviceAddress destination, std::span<const std::byte> source) const {
  const uint64_t offset = destination.value() - address().value();
  return transferAll(file_, name_, "write", source.size(), [&](uint64_t done) {
    return pwrite(file_, source.data() + done, source.size() - done, static_cast<off_t>(offset + done));
  });
}

} // namespace trainc
