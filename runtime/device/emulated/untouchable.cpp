#include "runtime/device/emulated/untouchable.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>

namespace trainc {

namespace {

/// Alignment of arenas, which the substitute addresses must keep.
constexpr uint64_t kAlignment = uint64_t{2} << 20;

} // namespace

Untouchable::~Untouchable() {
  for (const Range &range : ranges_)
    munmap(range.mapping, range.mapped);
}

Result<DeviceAddress> Untouchable::standFor(DeviceAddress real, std::string_view name, uint64_t bytes) {
  // Larger than the range, so that no range begins where another one ends.
  const uint64_t mapped = bytes + 2 * kAlignment;
  void *mapping = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return failed("arena '{}': cannot reserve {} bytes of addresses for the emulated device: {}", name,
                  mapped, std::strerror(errno));
  const uint64_t begin = (DeviceAddress(mapping).value() + kAlignment - 1) / kAlignment * kAlignment;
  return ranges_.emplace_back(Range{DeviceAddress(begin), real, bytes, mapping, mapped}).begin;
}

DeviceAddress Untouchable::real(DeviceAddress address) const {
  const auto range = std::ranges::find_if(
      ranges_, [&](const Range &each) { return address.value() - each.begin.value() <= each.bytes; });
  if (range == ranges_.end())
    return {};
  return range->real + (address.value() - range->begin.value());
}

} // namespace trainc
