// A persistent tensor of a running plan, for checkpoints, and access to its bytes.
#pragma once

#include "base/status.h"
#include "plan/facts/mesh.h"
#include "plan/schema/plan_generated.h"
#include "runtime/formats/safetensors_layout.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace trainc {

/// Non-owned bytes in host memory, or in device memory that is accessed in pieces. Thread-safe for disjoint
/// pieces.
class TensorMemory {
public:
  /// Functions that copy the bytes from `offset` on: `Read` to the host, `Write` from the host.
  using Read = std::function<Status(std::span<std::byte> destination, uint64_t offset)>;
  using Write = std::function<Status(uint64_t offset, std::span<const std::byte> source)>;

  TensorMemory() = default;
  TensorMemory(std::span<std::byte> host) : host_(host), bytes_(host.size()) {}
  TensorMemory(uint64_t bytes, Read read, Write write)
      : bytes_(bytes), read_(std::move(read)), write_(std::move(write)) {}

  uint64_t size() const { return bytes_; }
  /// The bytes in place; empty if they are in device memory.
  std::span<std::byte> host() const { return host_; }

  /// The bytes [offset, offset + count): in place, or copied to `staging`. Fails if a device copy fails.
  Result<std::span<const std::byte>> read(uint64_t offset, uint64_t count,
                                          std::vector<std::byte> &staging) const {
    if (!read_)
      return std::span<const std::byte>(host_.subspan(offset, count));
    staging.resize(count);
    TRAINC_RETURN_IF_ERROR(read_(staging, offset));
    return std::span<const std::byte>(staging);
  }

  /// Lets `fill(destination)` write the bytes [offset, offset + count), in place or through `staging`. Fails
  /// like read().
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

/// A tensor of which this process holds all elements or a shard: row-major, little-endian.
struct StateTensor {
  /// Logical name: the Hugging Face name of a parameter, "exp_avg.NAME" of an optimizer state.
  std::string name;
  fb::DType dtype;
  std::vector<uint64_t> shape;
  TensorMemory bytes;     ///< whole elements, not owned; the whole tensor unless it is sharded
  uint64_t firstByte = 0; ///< offset of `bytes` within the tensor
  std::optional<RankGroupShape> sharded = std::nullopt; ///< groups of ranks that hold shards of the tensor
};

/// Bytes of the whole tensor.
uint64_t tensorBytes(const StateTensor &tensor);

/// Layout of a file of whole tensors, even if this process holds only shards.
SafetensorsLayout layOutSafetensors(std::span<const StateTensor> tensors);

/// Description for messages: "F32 [2, 3]".
std::string describe(const StateTensor &tensor);

} // namespace trainc
