// Stream capture.
#include "test/emulator/libcuda/capture.h"

#include <algorithm>

namespace trainc::emulator {

namespace {

void begin(const Call &call, const std::shared_ptr<Stream> &stream, CUstreamCaptureMode mode) {
  auto capture = std::make_shared<Capture>();
  capture->graph = std::make_shared<Graph>();
  capture->graph->context = stream->context;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream.get();
  capture->streams.push_back(stream);
  call.driver.captures.push_back(capture);
  stream->capture = std::move(capture);
  stream->tail.clear();
}

/// Ends a capture: its streams execute again.
void end(const Call &call, Capture &capture) {
  capture.ended = true;
  for (const std::weak_ptr<Stream> &each : capture.streams)
    if (const std::shared_ptr<Stream> stream = each.lock()) {
      stream->capture = nullptr;
      stream->tail.clear();
    }
  std::erase_if(call.driver.captures, [&](const auto &each) { return each.get() == &capture; });
}

/// Whether all nodes precede the nodes `tail`.
bool comesLast(const std::vector<GraphNode> &nodes, const std::vector<size_t> &tail) {
  std::vector<bool> isBefore(nodes.size());
  for (const size_t node : tail)
    isBefore[node] = true;
  for (size_t node = nodes.size(); node-- > 0;) // nodes come after their dependencies
    if (isBefore[node])
      for (const size_t before : nodes[node].after)
        isBefore[before] = true;
  return std::ranges::find(isBefore, false) == isBefore.end();
}

} // namespace

CUresult waitInCapture(const Call &call, const std::shared_ptr<Stream> &stream, const Event &event) {
  const std::shared_ptr<Capture> &capture = event.capture;
  if (!capture) {
    stream->capture->invalidated = true;
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                       "a captured stream waits for an event that was recorded outside of the capture");
  }
  if (capture->ended)
    return call.refuse(CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a capture that has ended");
  if (stream->capture && stream->capture != capture) {
    stream->capture->invalidated = capture->invalidated = true;
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_MERGE, "the stream and the event are of different captures");
  }
  if (capture->invalidated)
    return call.refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture of the event has failed before");
  if (!stream->capture) {
    // The empty node ensures that a stream without other work still has to be joined.
    stream->capture = capture;
    stream->tail = event.tail;
    capture->streams.push_back(stream);
    return call.append(*stream, {.what = "waiting for an event"});
  }
  for (const size_t node : event.tail)
    if (std::ranges::find(stream->tail, node) == stream->tail.end())
      stream->tail.push_back(node);
  return CUDA_SUCCESS;
}

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

CUresult CUDAAPI cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  return entry("cuStreamBeginCapture", [&](Call &call) {
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.streams, handle, stream));
    if (mode != CU_STREAM_CAPTURE_MODE_GLOBAL && mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
        mode != CU_STREAM_CAPTURE_MODE_RELAXED)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "mode {}", static_cast<int>(mode));
    if (stream->capture)
      return call.refuse(CUDA_ERROR_ILLEGAL_STATE, "the stream is captured already");
    begin(call, stream, mode);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  return entry("cuStreamEndCapture", [&](Call &call) {
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.streams, handle, stream));
    if (!graph)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "the place for the graph is null");
    *graph = nullptr;
    const std::shared_ptr<Capture> capture = stream->capture;
    if (!capture)
      return call.refuse(CUDA_ERROR_ILLEGAL_STATE, "the stream is not captured");
    if (capture->origin != stream.get()) {
      capture->invalidated = true;
      return call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture began on another stream");
    }
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id())
      return call.refuse(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "the capture began on another thread");
    const bool isJoined = comesLast(capture->graph->nodes, stream->tail);
    std::shared_ptr<Graph> captured = std::move(capture->graph); // events of the capture do not keep it alive
    end(call, *capture);
    if (capture->invalidated)
      return call.refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture has failed before");
    if (!isJoined)
      return call.refuse(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                         "the stream does not wait for all that others captured");
    *graph = call.driver.graphs.add(std::move(captured));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
  return entry("cuStreamIsCapturing", [&](Call &call) {
    std::shared_ptr<Stream> stream;
    TRAINC_CU(call.need(call.driver.streams, handle, stream));
    if (!status)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "the place for the status is null");
    *status = !stream->capture               ? CU_STREAM_CAPTURE_STATUS_NONE
              : stream->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                             : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
  });
}

} // extern "C"
