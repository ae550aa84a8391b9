#include "runtime/base/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trainc {

namespace {

Result<std::span<const std::byte>> mapDescriptor(int fd, const std::string &path) {
  struct stat info{};
  if (fstat(fd, &info) != 0)
    return invalidInput("{}: cannot read its size: {}", path, std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return invalidInput("{}: expected a regular file, found a directory or a device", path);
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0)
    return std::span<const std::byte>{};
  void *address = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED)
    return failed("{}: cannot map {} bytes: {}", path, size, std::strerror(errno));
  return std::span(static_cast<const std::byte *>(address), size);
}

} // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path &path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return invalidInput("{}: cannot open: {}", path.string(), std::strerror(errno));
  auto mapping = mapDescriptor(fd, path.string());
  ::close(fd);
  if (!mapping.ok())
    return mapping.status();
  return MappedFile(*mapping);
}

MappedFile::MappedFile(MappedFile &&other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty())
    munmap(const_cast<std::byte *>(bytes_.data()), bytes_.size());
}

} // namespace trainc
