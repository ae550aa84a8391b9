// Messages between the host programs of all ranks, apart from the plan's collectives.
#pragma once

#include "base/status.h"
#include "runtime/comm/communicator.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace trainc {

/// One rank's connection to the others. All ranks call the same members in the same order. No member
/// allocates.
class ControlChannel {
public:
  /// Maximum bytes of a value.
  static constexpr size_t kValueBytes = Communicator::kMaxExchangeBytes;

  /// `communicator` may be null for a single rank; otherwise it must outlive the channel.
  explicit ControlChannel(Communicator *communicator) : communicator_(communicator), values_(ranks()) {}

  uint32_t rank() const { return communicator_ ? communicator_->rank() : 0; }
  uint32_t ranks() const { return communicator_ ? communicator_->ranks() : 1; }
  /// Whether a gather() has failed; permanent.
  bool broken() const { return broken_; }

  /// Opens a scope in which this rank waits for resources of its own; see Communicator::LocalWait.
  Communicator::LocalWait localWait() const { return Communicator::LocalWait(communicator_); }

  /// All-gathers a value, in rank order; the result is valid until the next call. Fails like
  /// Communicator::exchange().
  template <typename T> Result<std::span<const T>> gather(const T &value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kValueBytes);
    const std::span<std::byte> values = std::as_writable_bytes(std::span(values_)).first(ranks() * sizeof(T));
    TRAINC_RETURN_IF_ERROR(exchange(std::as_bytes(std::span(&value, 1)), values));
    return std::span(reinterpret_cast<const T *>(values.data()), ranks());
  }

  /// Agrees on whether the ranks continue. Returns true if any rank wants to stop, even if another rank
  /// passes an error. Otherwise, if a rank passes an error, fails on all ranks: on that rank with `own`, on
  /// the others with an error that names the rank.
  Result<bool> anyStops(bool wantsToStop, const Status &own = {});

private:
  struct alignas(std::max_align_t) Value {
    std::array<std::byte, kValueBytes> bytes{};
  };
  Status exchange(std::span<const std::byte> own, std::span<std::byte> all);

  Communicator *communicator_;
  std::vector<Value> values_; ///< space for the values of all ranks
  bool broken_ = false;
};

} // namespace trainc
