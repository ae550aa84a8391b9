// What the hosts of all ranks tell each other beside the plan's collectives.
#pragma once

#include "runtime/base/status.h"
#include "runtime/comm/communicator.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace trainc {

/// One rank's connection to the others. All ranks call the same members in the same order; nothing is
/// allocated after create().
class Peers {
public:
  /// Bytes that a rank can tell at once.
  static constexpr size_t kValueBytes = 256;

  /// `communicator` may be null: this rank is alone. Else it must outlive the peers, have room for one more
  /// collective in flight, and every rank come here at the same place in its order of allocations.
  static Result<Peers> create(Communicator *communicator);

  uint32_t rank() const { return communicator_ ? communicator_->rank() : 0; }
  uint32_t ranks() const { return communicator_ ? communicator_->ranks() : 1; }
  /// Whether a gather() has failed; the group stays so.
  bool broken() const { return broken_; }

  /// While what it returns lives, this rank waits for what is its own; see Communicator::OwnTime.
  Communicator::OwnTime ownTime() const { return Communicator::OwnTime(communicator_); }

  /// Every rank's value, in the ranks' order; valid until the next call. Fails as Communicator::wait() does.
  template <typename T> Result<std::span<const T>> gather(const T &value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kValueBytes);
    TRAINC_ASSIGN_OR_RETURN(const std::byte *const values, exchange(&value, sizeof(T)));
    return std::span(reinterpret_cast<const T *>(values), ranks());
  }

  /// Whether the ranks go on together. True: some rank wants to stop. Fails on all ranks when one has an
  /// error: there with `own`, elsewhere naming the rank; stopping counts for more.
  Result<bool> anyStops(bool wantsToStop, const Status &own = {});

private:
  explicit Peers(Communicator *communicator) : communicator_(communicator) {}
  Result<const std::byte *> exchange(const void *value, size_t bytes);

  Communicator *communicator_;
  std::byte *values_ = nullptr; ///< of all ranks, in the communicator's memory
  alignas(std::max_align_t) std::array<std::byte, kValueBytes> own_{};
  bool broken_ = false;
};

} // namespace trainc
