// Streams and events.
#include "test/emulator/libcuda/capture.h"
#include "test/emulator/libcuda/entry.h"

namespace trainc::emulator {

namespace {

/// For queries of progress: forbidden for a captured stream, and during another capture.
CUresult needRunningStream(Call &call, CUstream handle, std::shared_ptr<Stream> &stream) {
  TRAINC_CU(call.need(call.driver.streams, handle, stream));
  if (!stream->capture)
    return call.needNoCapture();
  stream->capture->invalidated = true;
  return call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is captured");
}

/// Likewise for an event.
CUresult needRunningEvent(Call &call, CUevent handle, std::shared_ptr<Event> &event) {
  TRAINC_CU(call.need(call.driver.events, handle, event));
  if (!event->capture)
    return call.needNoCapture();
  event->capture->invalidated = true;
  return call.refuse(CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a capture");
}

CUresult query(Call &call, const OperationRef &operation) {
  call.context->device->scheduler.hostPolls();
  return operation && !operation->done ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

} // namespace

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int /*priority*/) {
  return entry("cuStreamCreateWithPriority", [&](Call &call) {
    TRAINC_CU(call.needContext());
    if (!stream || (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "place {}, flags {:#x}", fmt::ptr(stream), flags);
    auto made = std::make_shared<Stream>();
    made->context = call.context;
    made->lane = ++call.driver.lanes;
    *stream = call.driver.streams.add(std::move(made));
    return CUDA_SUCCESS;
  });
}

/// Pending work continues.
CUresult CUDAAPI cuStreamDestroy(CUstream handle) {
  return entry("cuStreamDestroy", [&](Call &call) {
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.streams, handle, stream));
    if (stream->capture) {
      stream->capture->invalidated = true;
      return call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is captured");
    }
    call.driver.streams.remove(handle);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuStreamSynchronize(CUstream handle) {
  return entry("cuStreamSynchronize", [&](Call &call) {
    std::shared_ptr<Stream> stream;
    TRAINC_CU(needRunningStream(call, handle, stream));
    return call.waitFor(stream->last);
  });
}

CUresult CUDAAPI cuStreamQuery(CUstream handle) {
  return entry("cuStreamQuery", [&](Call &call) {
    std::shared_ptr<Stream> stream;
    TRAINC_CU(needRunningStream(call, handle, stream));
    return query(call, stream->last);
  });
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream handle, CUevent eventHandle, unsigned int flags) {
  return entry("cuStreamWaitEvent", [&](Call &call) {
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.streams, handle, stream));
    // The event may belong to any context, so that devices can synchronise.
    const std::shared_ptr<Event> event = call.driver.events.find(eventHandle);
    if (!event)
      return call.refuse(CUDA_ERROR_INVALID_HANDLE, "{}", call.driver.events.whyNot(eventHandle));
    if (flags != 0)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "flags {:#x} are not emulated", flags);
    if (stream->capture || event->capture)
      return waitInCapture(call, stream, *event);
    if (event->record) {
      static const auto kWait = std::make_shared<const Work>(Work{.what = "waiting for an event"});
      const OperationRef before[] = {stream->last, event->record->operation};
      stream->last = call.context->device->scheduler.add(kWait, call.context->state, stream->lane, before);
    }
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventCreate(CUevent *event, unsigned int flags) {
  return entry("cuEventCreate", [&](Call &call) {
    TRAINC_CU(call.needContext());
    if (!event || (flags & ~unsigned{CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING}) != 0)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "place {}, flags {:#x}", fmt::ptr(event), flags);
    auto made = std::make_shared<Event>();
    made->context = call.context;
    made->hasTime = (flags & CU_EVENT_DISABLE_TIMING) == 0;
    *event = call.driver.events.add(std::move(made));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventDestroy(CUevent handle) {
  return entry("cuEventDestroy", [&](Call &call) {
    std::shared_ptr<Event> event;
    TRAINC_CU(call.need(call.driver.events, handle, event));
    call.driver.events.remove(handle);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventRecord(CUevent handle, CUstream streamHandle) {
  return entry("cuEventRecord", [&](Call &call) {
    std::shared_ptr<Event> event;
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.events, handle, event));
    TRAINC_CU(call.need(call.driver.streams, streamHandle, stream));
    if (stream->capture) {
      if (stream->capture->invalidated)
        return call.refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                           "the capture of the stream has failed before");
      event->capture = stream->capture;
      event->tail = stream->tail;
      return CUDA_SUCCESS;
    }
    event->capture = nullptr;
    auto time = std::make_shared<std::chrono::steady_clock::time_point>();
    TRAINC_CU(call.append(*stream, {.what = "an event", .run = [time](uint64_t) {
                                      *time = std::chrono::steady_clock::now();
                                      return std::optional<Failure>();
                                    }}));
    event->record = EventRecord{stream->last, std::move(time)};
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventSynchronize(CUevent handle) {
  return entry("cuEventSynchronize", [&](Call &call) {
    std::shared_ptr<Event> event;
    TRAINC_CU(needRunningEvent(call, handle, event));
    return call.waitFor(event->record ? event->record->operation : nullptr);
  });
}

CUresult CUDAAPI cuEventQuery(CUevent handle) {
  return entry("cuEventQuery", [&](Call &call) {
    std::shared_ptr<Event> event;
    TRAINC_CU(needRunningEvent(call, handle, event));
    return query(call, event->record ? event->record->operation : nullptr);
  });
}

CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent startHandle, CUevent endHandle) {
  return entry("cuEventElapsedTime", [&](Call &call) {
    std::shared_ptr<Event> start, end;
    TRAINC_CU(needRunningEvent(call, startHandle, start));
    TRAINC_CU(needRunningEvent(call, endHandle, end));
    if (!milliseconds)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "the place for the time is null");
    for (const auto &event : {start, end}) {
      if (!event->hasTime || !event->record)
        return call.refuse(CUDA_ERROR_INVALID_HANDLE, "{}",
                           event->record ? "an event was made without times" : "an event was never recorded");
      if (!event->record->operation->done)
        return CUDA_ERROR_NOT_READY;
    }
    *milliseconds =
        std::chrono::duration<float, std::milli>(*end->record->time - *start->record->time).count();
    return CUDA_SUCCESS;
  });
}

} // extern "C"
