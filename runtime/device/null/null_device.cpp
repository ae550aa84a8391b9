#include "runtime/device/null/null_device.h"

#include <cstring>

namespace trainc {

Result<std::byte *> NullDevice::allocateArena(std::string_view name, uint64_t bytes) {
  TRAINC_ASSIGN_OR_RETURN(ArenaMapping arena, ArenaMapping::create(name, bytes, /*reserveOnly=*/true));
  return arenas_.emplace_back(std::move(arena)).data();
}

void NullDevice::fromDevice(std::span<std::byte> destination, const std::byte *source) {
  std::memcpy(destination.data(), source, destination.size());
}

} // namespace trainc
