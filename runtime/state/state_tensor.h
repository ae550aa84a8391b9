// A persistent tensor of a running plan, as checkpoints see it, and its bytes, wherever they are.
#pragma once

#include "runtime/base/status.h"
#include "runtime/formats/safetensors_layout.h"
#include "runtime/schema/plan_generated.h"

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
  using Read = std::function<Status(std::span<std::byte> destination, uint64_t offset)>;
  using Write = std::function<Status(uint64_t offset, std::span<const std::byte> source)>;

  TensorMemory() = default;
  TensorMemory(std::span<std::byte> host) : host_(host), bytes_(host.size()) {}
  TensorMemory(uint64_t bytes, Read read, Write write)
      : bytes_(bytes), read_(std::move(read)), write_(std::move(write)) {}

  uint64_t size() const { return bytes_; }
  /// The bytes themselves; empty where they are a device's.
  std::span<std::byte> host() const { return host_; }

  /// The bytes [offset, offset + count): themselves, or a copy in `staging`. Fails as a device's copy does.
  Result<std::span<const std::byte>> read(uint64_t offset, uint64_t count,
                                          std::vector<std::byte> &staging) const {
    if (!read_)
      return std::span<const std::byte>(host_.subspan(offset, count));
    staging.resize(count);
    TRAINC_RETURN_IF_ERROR(read_(staging, offset));
    return std::span<const std::byte>(staging);
  }

  /// Lets `fill(destination)` write the bytes [offset, offset + count), or a copy of them in `staging`. Fails
  /// as read() does.
  template <typename Fill>
  Status write(uint64_t offset, uint64_t count, std::vector<std::byte> &staging, Fill fill) const {
    if (!write_) {
      fill(host_.subspan(offset, count));
      return {};
    }
    staging.resize(count);
    fill(std::span<std::byte>(staging));
    return write_(offset, staging);
  }

private:
  std::span<std::byte> host_;
  uint64_t bytes_ = 0;
  Read read_;
  Write write_;
};

/// A tensor of which this process holds all or a part: row-major, little-endian.
struct StateTensor {
  std::string name; ///< logical: the Hugging Face name of a parameter, "exp_avg.NAME" of an optimizer state
  fb::DType dtype;
  std::vector<uint64_t> shape;
  TensorMemory bytes;     ///< whole elements, not owned; all of the tensor's unless it is divided
  uint64_t firstByte = 0; ///< of the tensor, with which `bytes` begin
  bool divided = false;   ///< each rank of a shard group holds a part
};

/// Bytes of the whole tensor.
uint64_t tensorBytes(const StateTensor &tensor);

/// The file of whole tensors, whatever part of them this process holds.
SafetensorsLayout layOutSafetensors(std::span<const StateTensor> tensors);

/// "F32 [2, 3]", for messages.
std::string describe(const StateTensor &tensor);

} // namespace trainc
