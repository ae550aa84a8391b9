// Wire format of host exchanges.
#pragma once

#include "runtime/comm/communicator.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <string>
#include <type_traits>

namespace trainc {

/// Value that one host contributes to an exchange.
struct HostMessage {
  uint32_t bytes = 0;
  std::array<std::byte, Communicator::kMaxExchangeBytes> value{};

  void set(std::span<const std::byte> own) {
    assert(own.size() <= value.size());
    bytes = static_cast<uint32_t>(own.size());
    std::ranges::copy(own, value.begin());
  }
  /// Copies the value; returns false if its size differs from that of `destination`, which happens if a rank
  /// runs another program.
  bool copyTo(std::span<std::byte> destination) const {
    if (bytes != destination.size())
      return false;
    std::ranges::copy(std::span(value).first(bytes), destination.begin());
    return true;
  }
};
static_assert(std::has_unique_object_representations_v<HostMessage>, "padding would be sent, too");
static_assert(sizeof(HostMessage) == 4 + Communicator::kMaxExchangeBytes);

/// Concatenates the values `valueOf(rank)` of `ranks` hosts, `bytes` each. If a value has another size, calls
/// `fail(rank, reason)` and returns false.
template <typename ValueOf, typename Fail>
bool gatherValues(uint32_t ranks, size_t bytes, ValueOf valueOf, Fail fail, std::span<std::byte> all) {
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const HostMessage &message = valueOf(rank);
    if (message.copyTo(all.subspan(rank * bytes, bytes)))
      continue;
    fail(rank,
         fmt::format("its program differs: it sent {} bytes where {} were expected", message.bytes, bytes));
    return false;
  }
  return true;
}

} // namespace trainc
