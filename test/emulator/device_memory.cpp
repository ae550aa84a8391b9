#include "test/emulator/device_memory.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>

namespace trainc::emulator {

namespace {

constexpr uint64_t kAlignment = 512;
/// Ratio of address space to memory: released addresses stay unused for long, so that accesses to them are
/// detected.
constexpr uint64_t kAddressesPerByte = 4;
constexpr size_t kMaxReleased = 4096;

uint64_t roundUp(uint64_t value) { return (value + kAlignment - 1) / kAlignment * kAlignment; }

/// Address space of an allocation, including a gap that belongs to no allocation.
uint64_t extentOf(uint64_t size) { return roundUp(size) + kAlignment; }

} // namespace

DeviceAllocation::DeviceAllocation(uint64_t address, uint64_t size, bool isWritten)
    : address(address), size(size), bytes(new std::byte[size]), written(new uint8_t[size]) {
  std::memset(written.get(), isWritten ? 1 : 0, size);
  std::memset(bytes.get(), isWritten ? 0 : 0xcd, size);
}

DeviceMemory::DeviceMemory(uint64_t limit) : limit_(limit) {
  reserved_ = roundUp(limit) * kAddressesPerByte + 2 * kAlignment;
  void *const addresses =
      mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (addresses == MAP_FAILED) { // all allocations will fail
    reserved_ = 0;
    return;
  }
  base_ = next_ = reinterpret_cast<uint64_t>(addresses);
}

DeviceMemory::~DeviceMemory() {
  if (reserved_ != 0)
    munmap(reinterpret_cast<void *>(base_), reserved_);
}

uint64_t DeviceMemory::allocate(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes == 0 || bytes > limit_ || roundUp(bytes) > limit_ - used_)
    return 0;
  const uint64_t address = placeFor(extentOf(bytes));
  if (address == 0)
    return 0;
  live_.emplace(address, std::make_shared<DeviceAllocation>(address, bytes));
  used_ += roundUp(bytes);
  next_ = address + extentOf(bytes);
  return address;
}

bool DeviceMemory::release(uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end())
    return false;
  used_ -= roundUp(found->second->size);
  if (released_.size() == kMaxReleased)
    released_.erase(released_.begin());
  released_.push_back({address, found->second->size});
  live_.erase(found);
  return true;
}

std::byte *DeviceMemory::bytes(uint64_t address, uint64_t count) {
  const std::shared_ptr<DeviceAllocation> allocation = find(address);
  return allocation && allocation->contains(address, count)
             ? allocation->bytes.get() + (address - allocation->address)
             : nullptr;
}

void DeviceMemory::noteWritten(uint64_t address, uint64_t count) {
  const std::shared_ptr<DeviceAllocation> allocation = find(address);
  if (allocation && allocation->contains(address, count))
    std::memset(allocation->written.get() + (address - allocation->address), 1, count);
}

bool DeviceMemory::isWritten(uint64_t address, uint64_t count) const {
  const std::shared_ptr<DeviceAllocation> allocation = find(address);
  if (!allocation || !allocation->contains(address, count))
    return false;
  const uint8_t *const written = allocation->written.get() + (address - allocation->address);
  return std::all_of(written, written + count, [](uint8_t byte) { return byte != 0; });
}

uint64_t DeviceMemory::freeBytes() const {
  const std::lock_guard lock(mutex_);
  return limit_ - used_;
}

std::shared_ptr<DeviceAllocation> DeviceMemory::find(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  return findLocked(address);
}

std::string DeviceMemory::describe(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  if (const auto inside = findLocked(address))
    return fmt::format("byte {} of {} bytes at {:#x}", address - inside->address, inside->size,
                       inside->address);
  for (auto old = released_.rbegin(); old != released_.rend(); ++old)
    if (address >= old->address && address - old->address < old->size)
      return fmt::format("byte {} of {} bytes at {:#x} that were released", address - old->address, old->size,
                         old->address);
  const auto next = live_.upper_bound(address);
  const DeviceAllocation *const after = next != live_.end() ? next->second.get() : nullptr;
  const DeviceAllocation *const before = next != live_.begin() ? std::prev(next)->second.get() : nullptr;
  if (before && (!after || address - before->address - before->size <= after->address - address))
    return fmt::format("{} bytes past the end of {} bytes at {:#x}", address - before->address - before->size,
                       before->size, before->address);
  if (after)
    return fmt::format("{} bytes before {} bytes at {:#x}", after->address - address, after->size,
                       after->address);
  return "no memory is allocated";
}

std::shared_ptr<DeviceAllocation> DeviceMemory::findLocked(uint64_t address) const {
  const auto next = live_.upper_bound(address);
  if (next == live_.begin())
    return nullptr;
  const std::shared_ptr<DeviceAllocation> &allocation = std::prev(next)->second;
  return address - allocation->address < allocation->size ? allocation : nullptr;
}

/// First free address after the last allocation, else from the beginning on; 0 if there is none.
uint64_t DeviceMemory::placeFor(uint64_t extent) const {
  if (reserved_ == 0)
    return 0;
  if (isFree(next_, extent))
    return next_;
  if (isFree(base_, extent))
    return base_;
  for (const bool fromNext : {true, false})
    for (const auto &[address, allocation] : live_) {
      const uint64_t end = address + extentOf(allocation->size);
      if ((!fromNext || end >= next_) && isFree(end, extent))
        return end;
    }
  return 0;
}

bool DeviceMemory::isFree(uint64_t begin, uint64_t extent) const {
  if (begin < base_ || extent > reserved_ || begin - base_ > reserved_ - extent)
    return false;
  const auto next = live_.lower_bound(begin);
  if (next != live_.end() && next->first < begin + extent)
    return false;
  return next == live_.begin() || std::prev(next)->first + extentOf(std::prev(next)->second->size) <= begin;
}

} // namespace trainc::emulator
