#include "runtime/cuda/cuda_handles.h"

#include <cstring>

namespace trainc {

Result<CudaStream> makeCudaStream(int priority) {
  CUstream stream = nullptr;
  TRAINC_RETURN_IF_ERROR(driver().cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, priority));
  return CudaStream(stream);
}

Result<CudaEvent> makeCudaEvent(bool isTimed) {
  CUevent event = nullptr;
  TRAINC_RETURN_IF_ERROR(
      driver().cuEventCreate(&event, isTimed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING));
  return CudaEvent(event);
}

Result<PinnedMemory> PinnedMemory::create(uint64_t bytes) {
  void *memory = nullptr;
  TRAINC_RETURN_IF_ERROR(driver().cuMemHostAlloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE));
  PinnedHandle handle(memory);
  std::memset(memory, 0, bytes);
  return PinnedMemory(std::move(handle), bytes);
}

} // namespace trainc
