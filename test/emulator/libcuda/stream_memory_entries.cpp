// Stream memory operations.
#include "test/emulator/libcuda/entry.h"

#include <atomic>

using namespace trainc::emulator;

extern "C" {

/// Only to pinned memory, so that the host sees the word at once.
CUresult CUDAAPI cuStreamWriteValue32(CUstream handle, CUdeviceptr address, cuuint32_t value,
                                      unsigned int flags) {
  return entry("cuStreamWriteValue32", [&](Call &call) {
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.streams, handle, stream));
    const std::shared_ptr<PinnedMemory> pinned =
        call.driver.pinnedAt(reinterpret_cast<const void *>(address), sizeof(value));
    const auto begin = pinned ? reinterpret_cast<CUdeviceptr>(pinned->address) : 0;
    if (!pinned || address % sizeof(value) != 0 || address < begin ||
        address - begin > pinned->bytes - sizeof(value) || flags != CU_STREAM_WRITE_VALUE_DEFAULT)
      return call.refuse(
          CUDA_ERROR_INVALID_VALUE,
          "the emulated device writes aligned words of pinned memory alone, and with no flags; "
          "got {:#x}, flags {:#x}",
          address, flags);
    const auto run = [pinned, address, value](uint64_t) -> std::optional<Failure> {
      if (pinned->freed)
        return Failure{CUDA_ERROR_ILLEGAL_ADDRESS, "writes a word of pinned memory that was freed"};
      std::atomic_ref(*reinterpret_cast<uint32_t *>(address)).store(value, std::memory_order_release);
      return std::nullopt;
    };
    return call.append(*stream, {.what = "cuStreamWriteValue32", .run = run, .usesHost = true});
  });
}

} // extern "C"
