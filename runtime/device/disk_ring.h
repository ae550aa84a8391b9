// File reads and writes with several requests in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

struct io_uring;

namespace trainc {

/// Transfers pieces of a range concurrently through io_uring; one after the other if the kernel lacks it or a
/// container forbids it. May be used from any thread, by one at a time.
class DiskRing {
public:
  DiskRing();
  DiskRing(DiskRing &&other) noexcept;
  DiskRing &operator=(DiskRing &&) = delete;
  ~DiskRing();

  /// Transfers all bytes from `offset` on. Returns 0, the errno of the first failure, or -1 if the file ends
  /// too early.
  int read(int file, std::span<std::byte> destination, uint64_t offset);
  int write(int file, std::span<const std::byte> source, uint64_t offset);

private:
  struct Transfer;
  int run(const Transfer &transfer);
  void abandon(unsigned taken);

  std::unique_ptr<io_uring> ring_; ///< null if io_uring is unavailable
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

} // namespace trainc
