// Primary contexts.
#include "test/emulator/libcuda/entry.h"

namespace trainc::emulator {

namespace {

/// Drops pending work and destroys everything in the context.
void destroy(Call &call, const ContextRef &context) {
  Driver &driver = call.driver;
  context->state->destroyed = true;
  waitUntil(driver.lock, call.held, [&] { return context->state->pending == 0; });
  const auto isInside = [&](const auto &object) { return object.context == context; };
  std::erase_if(driver.captures, [&](const auto &capture) { return capture->graph->context == context; });
  driver.functions.removeIf(isInside);
  driver.modules.removeIf(isInside);
  driver.graphExecs.removeIf(isInside);
  driver.graphs.removeIf(isInside);
  driver.events.removeIf(isInside);
  driver.streams.removeIf(isInside);
  for (const auto &[address, bytes] : context->allocations)
    context->device->memory.release(address);
  driver.contexts.remove(context->device->context);
  context->device->context = nullptr;
}

} // namespace

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice index) {
  return entry("cuDevicePrimaryCtxRetain", [&](Call &call) {
    TRAINC_CU(call.needInit());
    Device *device = call.driver.device(index);
    if (!device)
      return call.refuse(CUDA_ERROR_INVALID_DEVICE, "device {} of {}", index, call.driver.deviceCount());
    if (!context)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "the place for the context is null");
    if (!device->context) {
      if (device->memory.limit() < kContextBytes)
        return call.refuse(CUDA_ERROR_OUT_OF_MEMORY, "a context takes {} bytes, the device has {}",
                           kContextBytes, device->memory.limit());
      auto made = std::make_shared<Context>();
      made->device = device;
      made->ownBytes = kContextBytes;
      device->context = call.driver.contexts.add(std::move(made));
    }
    const ContextRef found = call.driver.contexts.find(device->context);
    if (found->state->destroyed)
      return call.refuse(CUDA_ERROR_CONTEXT_IS_DESTROYED, "another thread releases the context");
    ++found->references;
    *context = device->context;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice index) {
  return entry("cuDevicePrimaryCtxRelease", [&](Call &call) {
    TRAINC_CU(call.needInit());
    const Device *device = call.driver.device(index);
    if (!device)
      return call.refuse(CUDA_ERROR_INVALID_DEVICE, "device {} of {}", index, call.driver.deviceCount());
    const ContextRef context = call.driver.contexts.find(device->context);
    if (!context || context->state->destroyed)
      return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "the context of device {} is not retained",
                         device->index);
    if (--context->references == 0)
      destroy(call, context);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext context) {
  return entry("cuCtxSetCurrent", [&](Call &call) {
    TRAINC_CU(call.needInit());
    if (context && !call.driver.contexts.find(context))
      return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "{}", call.driver.contexts.whyNot(context));
    currentContext = context;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *context) {
  return entry("cuCtxGetCurrent", [&](Call &call) {
    TRAINC_CU(call.needInit());
    if (!context)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "the place for the context is null");
    *context = currentContext;
    return CUDA_SUCCESS;
  });
}

} // extern "C"
