#include "base/memory_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace trainc {

Result<Descriptor> createMemoryFile(const char *name) {
  Descriptor file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file)
    return failed(
        "cannot make a file in memory: {}; does a seccomp filter forbid memfd_create, or are too many "
        "files open (ulimit -n)?",
        std::strerror(errno));
  return file;
}

Status sealMemoryFile(const Descriptor &file, int seals) {
  if (::fcntl(file.get(), F_ADD_SEALS, seals | F_SEAL_SEAL) == 0)
    return {};
  return failed("cannot seal a file in memory: {}", std::strerror(errno));
}

Status checkMemoryFile(const Descriptor &file, uint64_t bytes) {
  constexpr int kNeeded = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (!file)
    return failed("expected a file in memory, found none");
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (seals < 0)
    return failed("expected a file in memory, found another kind of descriptor");
  if ((seals & kNeeded) != kNeeded)
    return failed("expected a file in memory whose size is sealed, found one with the seals {:#x}", seals);
  struct stat info{};
  if (::fstat(file.get(), &info) != 0)
    return failed("cannot read the size of a file in memory: {}", std::strerror(errno));
  if (static_cast<uint64_t>(info.st_size) != bytes)
    return failed("expected {} bytes of shared memory, found {}", bytes, info.st_size);
  return {};
}

} // namespace trainc
