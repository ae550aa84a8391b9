#include "runtime/device/null/null_device.h"

#include <cstring>

namespace trainc {

Result<DeviceAddress> NullDevice::allocate(std::string_view name, fb::Space space, uint64_t bytes,
                                           Communicator *) {
  TRAINC_ASSIGN_OR_RETURN(ArenaMapping arena, ArenaMapping::create(name, bytes, /*reserveOnly=*/true));
  std::vector<ArenaMapping> &arenas = space == fb::Space::Disk ? onDisk_ : arenas_;
  return DeviceAddress(arenas.emplace_back(std::move(arena)).data());
}

void NullDevice::read(std::span<std::byte> destination, DeviceAddress source) {
  std::memcpy(destination.data(), source.pointer(), destination.size());
}

} // namespace trainc
