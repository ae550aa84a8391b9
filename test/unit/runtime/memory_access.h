// Access rights of this process to its memory.
#pragma once

#include <array>
#include <cstddef>
#include <unistd.h>

namespace trainc::test {

/// A pipe, through which the system reads and writes memory for us: it answers where we would get a signal.
class MemoryProbe {
public:
  MemoryProbe() { (void)!::pipe(ends_.data()); }
  MemoryProbe(const MemoryProbe &) = delete;
  MemoryProbe &operator=(const MemoryProbe &) = delete;
  ~MemoryProbe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  bool canRead(const std::byte *address) const {
    std::byte value{};
    return ::write(ends_[1], address, 1) == 1 && ::read(ends_[0], &value, 1) == 1;
  }
  /// Leaves the byte as it is.
  bool canWrite(std::byte *address) const {
    if (!canRead(address))
      return false;
    std::byte value = *address;
    (void)!::write(ends_[1], &value, 1);
    if (::read(ends_[0], address, 1) == 1)
      return true;
    (void)!::read(ends_[0], &value, 1);
    return false;
  }

private:
  std::array<int, 2> ends_{};
};

} // namespace trainc::test
