#include "runtime/base/mapped_file.h"

#include "runtime/base/input_file.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace trainc {

Result<MappedFile> MappedFile::open(const std::filesystem::path &path) {
  TRAINC_ASSIGN_OR_RETURN(const InputFile file, InputFile::open(path));
  const auto size = static_cast<size_t>(file.size());
  if (size == 0)
    return MappedFile();
  void *address = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (address == MAP_FAILED)
    return failed("{}: cannot map {} bytes: {}", file.path(), size, std::strerror(errno));
  return MappedFile(std::span(static_cast<const std::byte *>(address), size));
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
