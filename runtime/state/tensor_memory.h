// The bytes of a running plan's tensor, wherever they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace trainc {

/// Not owned bytes: of the host, or of a device, which are read and written in pieces. For any thread, as far
/// as pieces are apart.
class TensorMemory {
public:
  /// Copies the bytes from an offset on to the host, or from it.
  using Read = std::function<void(std::span<std::byte> destination, uint64_t offset)>;
  using Write = std::function<void(uint64_t offset, std::span<const std::byte> source)>;

  TensorMemory() = default;
  TensorMemory(std::span<std::byte> host) : host_(host), bytes_(host.size()) {}
  TensorMemory(uint64_t bytes, Read read, Write write)
      : bytes_(bytes), read_(std::move(read)), write_(std::move(write)) {}

  uint64_t size() const { return bytes_; }
  /// The bytes themselves; empty where they are a device's.
  std::span<std::byte> host() const { return host_; }

  /// The bytes [offset, offset + count): themselves, or a copy in `staging`.
  std::span<const std::byte> read(uint64_t offset, uint64_t count, std::vector<std::byte> &staging) const {
    if (!read_)
      return host_.subspan(offset, count);
    staging.resize(count);
    read_(staging, offset);
    return staging;
  }

  /// Lets `fill(destination)` write the bytes [offset, offset + count), or a copy of them in `staging`.
  template <typename Fill>
  void write(uint64_t offset, uint64_t count, std::vector<std::byte> &staging, Fill fill) const {
    if (!write_)
      return fill(host_.subspan(offset, count));
    staging.resize(count);
    fill(std::span<std::byte>(staging));
    write_(offset, staging);
  }

private:
  std::span<std::byte> host_;
  uint64_t bytes_ = 0;
  Read read_;
  Write write_;
};

} // namespace trainc
