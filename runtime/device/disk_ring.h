// Reads and writes of files, several at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

struct io_uring;

namespace trainc {

/// Lets the kernel read or write pieces of a range side by side, through io_uring. Where the kernel has none,
/// or a container forbids it, they are read and written one after the other. For any thread, of which one at
/// a time transfers.
class DiskRing {
public:
  DiskRing();
  DiskRing(DiskRing &&other) noexcept;
  DiskRing &operator=(DiskRing &&) = delete;
  ~DiskRing();

  /// All of the bytes from `offset` in the file on. Returns 0, the errno of the first failure, or -1 where
  /// the file ends before.
  int read(int file, std::span<std::byte> destination, uint64_t offset);
  int write(int file, std::span<const std::byte> source, uint64_t offset);

private:
  struct Transfer;
  int run(const Transfer &transfer);
  void abandon(unsigned taken);

  std::unique_ptr<io_uring> ring_; ///< null where there is none
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

} // namespace trainc
