#include "base/arena.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace trainc {

namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

} // namespace

Result<ArenaMapping> ArenaMapping::create(std::string_view name, uint64_t bytes, bool reserveOnly) {
  const auto refuse = [&] {
    return failed("cannot allocate {} bytes for arena '{}': {}", bytes, name, std::strerror(errno));
  };
  ArenaMapping arena;
  const uint64_t usable = roundUp(bytes, static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  const uint64_t reserved = usable + 2 * kHugePage;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *base = mmap(nullptr, reserved, PROT_NONE, flags, -1, 0);
  if (base == MAP_FAILED)
    return refuse();
  arena.base_ = base;
  arena.reserved_ = reserved;
  const auto address = reinterpret_cast<uint64_t>(base);
  std::byte *data = static_cast<std::byte *>(base) + (roundUp(address + 1, kHugePage) - address);
  const int mode = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | (reserveOnly ? MAP_NORESERVE : 0);
  if (usable > 0 && mmap(data, usable, PROT_READ | PROT_WRITE, mode, -1, 0) == MAP_FAILED)
    return refuse();
  if (usable > 0)
    madvise(data, usable, MADV_HUGEPAGE); // a hint: without it the arena only faults more often
  arena.data_ = data;
  arena.bytes_ = bytes;
  return arena;
}

ArenaMapping::ArenaMapping(ArenaMapping &&other) noexcept
    : base_(std::exchange(other.base_, nullptr)), reserved_(other.reserved_), data_(other.data_),
      bytes_(other.bytes_) {}

ArenaMapping::~ArenaMapping() {
  if (base_)
    munmap(base_, reserved_);
}

uint64_t bytesOf(std::span<const ArenaMapping> arenas) {
  uint64_t bytes = 0;
  for (const ArenaMapping &arena : arenas)
    bytes += arena.bytes();
  return bytes;
}

} // namespace trainc
