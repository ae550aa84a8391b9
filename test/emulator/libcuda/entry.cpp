#include "test/emulator/libcuda/entry.h"

#include <cstring>
#include <unistd.h>

namespace trainc::emulator {

thread_local CUcontext currentContext = nullptr;

namespace {

/// Whether the context is unusable after this error, as on hardware.
bool isSticky(CUresult error) {
  switch (error) {
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
    return true;
  default:
    return false;
  }
}

} // namespace

CUresult Call::begin() {
  if (onDeviceThread)
    return refuse(CUDA_ERROR_NOT_PERMITTED, "called by a function that the device runs");
  const std::optional<int> fault = driver.calls.count(name_);
  if (!fault)
    return CUDA_SUCCESS;
  const auto error = static_cast<CUresult>(*fault);
  if (const ContextRef current = driver.contexts.find(currentContext); current && isSticky(error))
    current->state->error = error;
  return error;
}

CUresult Call::needInit() const {
  if (driver.process == 0)
    return refuse(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
  if (driver.process != getpid())
    return refuse(CUDA_ERROR_NOT_INITIALIZED,
                  "cuInit was called before the process forked, which a GPU does not survive");
  return CUDA_SUCCESS;
}

CUresult Call::needContext() {
  TRAINC_CU(needInit());
  if (!currentContext)
    return refuse(CUDA_ERROR_INVALID_CONTEXT, "no context is current on this thread");
  context = driver.contexts.find(currentContext);
  if (!context)
    return refuse(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context that is current on this thread was released");
  if (context->state->error != CUDA_SUCCESS)
    return context->state->error;
  context->device->scheduler.hostCalled();
  return CUDA_SUCCESS;
}

CUresult Call::needSameContext(const Context &other, std::string_view noun) const {
  if (&other == context.get())
    return CUDA_SUCCESS;
  return refuse(CUDA_ERROR_INVALID_HANDLE, "the {} is of device {}, but the context of device {} is current",
                noun, other.device->index, context->device->index);
}

CUresult Call::needNoCapture() const {
  for (const std::shared_ptr<Capture> &capture : driver.captures) {
    const bool isOwn = capture->thread == std::this_thread::get_id();
    if (capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
        (capture->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && !isOwn))
      continue;
    capture->invalidated = true;
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                  "called while {} thread captures a stream, in a mode that forbids it",
                  isOwn ? "this" : "another");
  }
  return CUDA_SUCCESS;
}

CUresult Call::append(Stream &stream, Work work) const {
  auto shared = std::make_shared<const Work>(std::move(work));
  if (const std::shared_ptr<Capture> &capture = stream.capture) {
    if (capture->invalidated)
      return refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture of the stream has failed before");
    std::vector<GraphNode> &nodes = capture->graph->nodes;
    nodes.push_back({std::move(shared), std::move(stream.tail), stream.lane});
    stream.tail = {nodes.size() - 1};
    return CUDA_SUCCESS;
  }
  if (driver.lock.hostWork == 0)
    spoilLate(*shared);
  stream.last = stream.context->device->scheduler.add(std::move(shared), stream.context->state, stream.lane,
                                                      {&stream.last, 1});
  return CUDA_SUCCESS;
}

CUresult Call::waitFor(const OperationRef &operation) {
  if (operation)
    waitUntil(driver.lock, held, [&] { return operation->done; });
  if (context->state->destroyed)
    return refuse(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context was released meanwhile");
  return context->state->error;
}

} // namespace trainc::emulator
