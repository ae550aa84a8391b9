#include "test/emulator/ptx/access.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <span>

namespace trainc::emulator {

namespace {

constexpr uint8_t kUnwritten = 0, kWritten = 1, kOnItsWay = 2; // states of a byte

bool reads(Access access) { return access != Access::kWrite && access != Access::kStrongWrite; }
bool writes(Access access) { return access != Access::kRead && access != Access::kStrongRead; }

const char *verb(Access access) {
  return access == Access::kAtomic ? "reads and writes" : writes(access) ? "writes" : "reads";
}

template <typename T> bool isAllWritten(const uint8_t *written) {
  T bytes;
  std::memcpy(&bytes, written, sizeof bytes);
  return bytes == static_cast<T>(0x0101010101010101U);
}

/// Whether all bytes were written and none is being written asynchronously.
bool areWritten(const uint8_t *written, unsigned bytes) {
  switch (bytes) {
  case 1:
    return *written == kWritten;
  case 2:
    return isAllWritten<uint16_t>(written);
  case 4:
    return isAllWritten<uint32_t>(written);
  default:
    for (unsigned from = 0; from < bytes; from += 8)
      if (!isAllWritten<uint64_t>(written + from))
        return false;
    return true;
  }
}

/// An access while it is checked.
struct Checked {
  Warp &warp;
  unsigned lane;
  uint64_t address;
  unsigned bytes;
  Access access;

  Place fail(const std::string &what) const {
    warp.fail(lane, fmt::format("{} {} bytes at {:#x}{}", verb(access), bytes, address, what));
    return {};
  }
  bool isRightlyWritten(const Place &place, const char *memory) const {
    if (areWritten(place.written, bytes)) [[likely]]
      return true;

    const std::span written(place.written, bytes);
    if (const auto byte = std::ranges::find(written, kOnItsWay); byte != written.end()) {
      fail(fmt::format(" of {} memory, of which a cp.async is still writing byte {}", memory,
                       byte - written.begin()));
      return false;
    }
    if (!reads(access))
      return true;
    fail(fmt::format(" of {} memory, of which byte {} was never written", memory,
                     std::ranges::find(written, kUnwritten) - written.begin()));
    return false;
  }
  bool isOrdered(Stamps stamps, uint64_t stale, const char *memory) const {
    const BarrierOrder &order = warp.block().launch().order;
    const uint32_t thread = warp.threadOf(lane);
    uint64_t race = 0;
    if (access == Access::kRead)
      race = noteRead(stamps, thread, stale, order);
    else if (access == Access::kWrite)
      race = noteWrite(stamps, thread, stale, order);
    else
      race = noteAtomic(stamps, thread, writes(access), stale, order);
    if (race == 0) [[likely]]
      return true;
    const bool wasWritten =
        std::find(stamps.writers, stamps.writers + stamps.count, race) != stamps.writers + stamps.count;
    fail(fmt::format(" of {} memory, a race with {}", memory,
                     warp.block().nameOfAccess(race, wasWritten ? "a write" : "a read")));
    return false;
  }
};

Place checkedShared(const Checked &checked) {
  Block &block = checked.warp.block();
  const Place place = block.shared(checked.address, checked.bytes);
  if (!place.bytes)
    return checked.fail(
        fmt::format(" of shared memory, of which the block has {} bytes", block.sharedBytes()));
  if (!checked.isRightlyWritten(place, "shared") ||
      !checked.isOrdered(block.sharedStamps(checked.address, checked.bytes),
                         block.launch().order.blockStart(), "shared"))
    return {};
  return place;
}

Place checkedGlobal(const Checked &checked) {
  LaunchState &launch = checked.warp.block().launch();
  const Place place = launch.global.find(checked.address, checked.bytes);
  if (!place.bytes)
    return checked.fail(fmt::format(" of global memory: {}", launch.global.describe(checked.address)));
  if (place.isReadOnly) {
    if (writes(checked.access))
      return checked.fail(fmt::format(", which are constant: {}", launch.global.describe(checked.address)));
    return place;
  }
  if (!checked.isRightlyWritten(place, "global") ||
      !checked.isOrdered(launch.global.stamps(checked.address, checked.bytes), launch.order.launchStart(),
                         "global"))
    return {};
  return place;
}

Place checkedLocal(const Checked &checked) {
  Warp &warp = checked.warp;
  const uint32_t size = warp.block().launch().program.frameBytes;
  if (checked.bytes > size || checked.address > size - checked.bytes)
    return checked.fail(fmt::format(" of local memory, of which a thread has {} bytes", size));
  const Place place = {warp.frame(checked.lane) + checked.address,
                       warp.frameWritten(checked.lane) + checked.address, false};
  return checked.isRightlyWritten(place, "local") ? place : Place();
}

Place checkedParameter(const Checked &checked) {
  const PtxLaunch &request = checked.warp.block().launch().request;
  const uint64_t size = request.function->parameterBytes;
  if (checked.bytes > size || checked.address > size - checked.bytes)
    return checked.fail(fmt::format(" of parameters, of which there are {} bytes", size));
  if (writes(checked.access))
    return checked.fail(" of parameters, which a kernel only reads");
  // Parameters are only read.
  return {const_cast<std::byte *>(request.parameters.data()) + checked.address, nullptr, true};
}

Place checkedGeneric(Checked checked) {
  const uint64_t address = checked.address;
  const uint64_t window = address < kModuleWindow ? address & ~(kWindowSize - 1) : 0;
  checked.address -= window;
  switch (window) {
  case kSharedWindow:
    return checkedShared(checked);
  case kLocalWindow:
    return checkedLocal(checked);
  case kParameterWindow:
    return checkedParameter(checked);
  default:
    return checkedGlobal(checked);
  }
}

Place checkedPlace(const Checked &checked, Space space) {
  switch (space) {
  case Space::kShared:
    return checkedShared(checked);
  case Space::kLocal:
    return checkedLocal(checked);
  case Space::kGlobal:
  case Space::kConstant:
    return checkedGlobal(checked);
  default:
    return checkedGeneric(checked);
  }
}

} // namespace

Place accessed(Warp &warp, unsigned lane, Space space, uint64_t address, unsigned bytes, Access access) {
  const Checked checked = {warp, lane, address, bytes, access};
  if (address % bytes != 0)
    return checked.fail(fmt::format(", which is not a multiple of {}", bytes));
  const Place place = checkedPlace(checked, space);
  if (place.bytes && writes(access))
    std::memset(place.written, kWritten, bytes);
  return place;
}

Place beginAsyncWrite(Warp &warp, unsigned lane, uint64_t address, unsigned bytes) {
  const Place place = accessed(warp, lane, Space::kShared, address, bytes, Access::kWrite);
  if (place.bytes)
    std::memset(place.written, kOnItsWay, bytes);
  return place;
}

void endAsyncWrite(Warp &warp, unsigned lane, uint64_t address, unsigned bytes) {
  const Place place = warp.block().shared(address, bytes);
  std::memset(place.written, kWritten, bytes);
  accessed(warp, lane, Space::kShared, address, bytes, Access::kWrite);
}

} // namespace trainc::emulator
