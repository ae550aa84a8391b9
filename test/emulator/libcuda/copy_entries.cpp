// Copies and memsets.
#include "test/emulator/libcuda/entry.h"

#include <cstring>

namespace trainc::emulator {

namespace {

/// A range of device memory, resolved when the work executes.
struct Place {
  Device *device;
  CUdeviceptr address;
  size_t bytes;

  /// Null if the memory was freed meanwhile.
  std::shared_ptr<DeviceAllocation> find() const {
    std::shared_ptr<DeviceAllocation> found = device->memory.find(address);
    return found && found->contains(address, bytes) ? found : nullptr;
  }
  std::byte *bytesIn(const DeviceAllocation &found) const {
    return found.bytes.get() + (address - found.address);
  }
  uint8_t *writtenIn(const DeviceAllocation &found) const {
    return found.written.get() + (address - found.address);
  }
  Failure gone() const {
    return {CUDA_ERROR_ILLEGAL_ADDRESS,
            fmt::format("uses {} bytes at {:#x}: {}", bytes, address, device->memory.describe(address))};
  }
};

/// A range of host memory.
struct HostPlace {
  std::byte *address;
  std::shared_ptr<PinnedMemory> pinned; ///< null: pageable

  bool wasFreed() const { return pinned && pinned->freed; }
};

constexpr const char *kFreedPinned = "uses pinned memory that was freed";

CUresult needPlace(const Call &call, CUdeviceptr address, size_t bytes, Place &place) {
  Device *device = call.driver.deviceOf(address, bytes);
  if (!device)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "{} bytes at {:#x} are not in one allocation: {}", bytes,
                       address, call.context->device->memory.describe(address));
  place = {device, address, bytes};
  return CUDA_SUCCESS;
}

/// Pageable memory must not be used later, as a graph would.
CUresult needHost(const Call &call, Stream &stream, const void *address, size_t bytes, HostPlace &place) {
  const auto number = reinterpret_cast<CUdeviceptr>(address);
  if (!address || call.driver.deviceOf(number, 1))
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "{:#x} is not memory of the host", number);
  place = {static_cast<std::byte *>(const_cast<void *>(address)), call.driver.pinnedAt(address, bytes)};
  if (const PinnedMemory *pinned = place.pinned.get()) {
    const auto begin = reinterpret_cast<CUdeviceptr>(pinned->address);
    if (number < begin || number + bytes > begin + pinned->bytes)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "{} bytes at {:#x} are partly in {} pinned bytes at {:#x}",
                         bytes, number, pinned->bytes, begin);
  } else if (stream.capture) {
    stream.capture->invalidated = true;
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                       "the host memory of a captured copy is not pinned");
  }
  return CUDA_SUCCESS;
}

std::optional<Failure> writeTo(const Place &to, const std::byte *source) {
  const std::shared_ptr<DeviceAllocation> found = to.find();
  if (!found)
    return to.gone();
  std::memcpy(to.bytesIn(*found), source, to.bytes);
  std::memset(to.writtenIn(*found), 1, to.bytes);
  return std::nullopt;
}

std::optional<Failure> readFrom(const Place &from, std::byte *destination) {
  const std::shared_ptr<DeviceAllocation> found = from.find();
  if (!found)
    return from.gone();
  const uint8_t *written = from.writtenIn(*found), *end = written + from.bytes;
  if (const uint8_t *unwritten = std::find(written, end, 0); unwritten != end)
    return Failure{CUDA_ERROR_LAUNCH_FAILED,
                   fmt::format("reads {} bytes at {:#x}, of which byte {} was never written", from.bytes,
                               from.address, unwritten - written)};
  std::memcpy(destination, from.bytesIn(*found), from.bytes);
  return std::nullopt;
}

/// Bytes that were never written stay unwritten.
std::optional<Failure> copyBetween(const Place &to, const Place &from) {
  const std::shared_ptr<DeviceAllocation> target = to.find(), source = from.find();
  if (!target || !source)
    return (target ? from : to).gone();
  std::memcpy(to.bytesIn(*target), from.bytesIn(*source), to.bytes);
  std::memcpy(to.writtenIn(*target), from.writtenIn(*source), to.bytes);
  return std::nullopt;
}

/// Waits or not, at random: before the driver stages pageable memory, both are allowed.
CUresult waitPerhaps(Call &call, const Stream &stream) {
  return call.context->device->scheduler.draw() % 2 == 0 ? call.waitFor(stream.last) : CUDA_SUCCESS;
}

} // namespace

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr destination, const void *source, size_t bytes,
                                   CUstream handle) {
  return entry("cuMemcpyHtoDAsync", [&](Call &call) {
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.streams, handle, stream));
    if (bytes == 0)
      return CUDA_SUCCESS;
    Place to{};
    HostPlace from{};
    TRAINC_CU(needPlace(call, destination, bytes, to));
    TRAINC_CU(needHost(call, *stream, source, bytes, from));
    Work work{.what = "a copy to the device"};
    if (from.pinned) {
      work.usesHost = true;
      work.run = [to, from](uint64_t) {
        return from.wasFreed() ? Failure{CUDA_ERROR_ILLEGAL_ADDRESS, kFreedPinned}
                               : writeTo(to, from.address);
      };
    } else {
      TRAINC_CU(waitPerhaps(call, *stream));
      work.run = [to, staged = std::vector<std::byte>(from.address, from.address + bytes)](uint64_t) {
        return writeTo(to, staged.data());
      };
    }
    return call.append(*stream, std::move(work));
  });
}

CUresult CUDAAPI cuMemcpyDtoHAsync(void *destination, CUdeviceptr source, size_t bytes, CUstream handle) {
  return entry("cuMemcpyDtoHAsync", [&](Call &call) {
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.streams, handle, stream));
    if (bytes == 0)
      return CUDA_SUCCESS;
    Place from{};
    HostPlace to{};
    TRAINC_CU(needPlace(call, source, bytes, from));
    TRAINC_CU(needHost(call, *stream, destination, bytes, to));
    Work work{.what = "a copy to the host"};
    work.run = [from, to](uint64_t) {
      return to.wasFreed() ? Failure{CUDA_ERROR_ILLEGAL_ADDRESS, kFreedPinned} : readFrom(from, to.address);
    };
    if (to.pinned)
      work.late = {to.address, bytes};
    TRAINC_CU(call.append(*stream, std::move(work)));
    return to.pinned ? CUDA_SUCCESS : call.waitFor(stream->last); // the driver waits for pageable memory
  });
}

CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                                   CUstream handle) {
  return entry("cuMemcpyDtoDAsync", [&](Call &call) {
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.streams, handle, stream));
    if (bytes == 0)
      return CUDA_SUCCESS;
    Place to{}, from{};
    TRAINC_CU(needPlace(call, destination, bytes, to));
    TRAINC_CU(needPlace(call, source, bytes, from));
    if (destination < source + bytes && source < destination + bytes)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "{} bytes at {:#x} and at {:#x} overlap", bytes,
                         destination, source);
    return call.append(*stream, {.what = "a copy on the device",
                                 .run = [to, from](uint64_t) { return copyBetween(to, from); }});
  });
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t bytes,
                                 CUstream handle) {
  return entry("cuMemsetD8Async", [&](Call &call) {
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.streams, handle, stream));
    if (bytes == 0)
      return CUDA_SUCCESS;
    Place to{};
    TRAINC_CU(needPlace(call, destination, bytes, to));
    return call.append(*stream,
                       {.what = "filling memory", .run = [to, value](uint64_t) -> std::optional<Failure> {
                          const std::shared_ptr<DeviceAllocation> found = to.find();
                          if (!found)
                            return to.gone();
                          std::memset(to.bytesIn(*found), value, to.bytes);
                          std::memset(to.writtenIn(*found), 1, to.bytes);
                          return std::nullopt;
                        }});
  });
}

} // extern "C"
