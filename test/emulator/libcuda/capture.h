// Streams that are captured: what becomes an edge of the graph, and what a capture does not allow.
#pragma once

#include "test/emulator/libcuda/entry.h"

namespace trainc::emulator {

/// cuStreamWaitEvent, when the stream or the event's record is of a capture. A stream that waits for a
/// captured event joins the capture.
CUresult waitInCapture(const Call &call, const std::shared_ptr<Stream> &stream, const Event &event);

} // namespace trainc::emulator
