// Stream capture: edges of the captured graph, and calls that a capture forbids.
#pragma once

#include "test/emulator/libcuda/entry.h"

namespace trainc::emulator {

/// cuStreamWaitEvent if the stream or the event's record belongs to a capture. A stream that waits for a
/// captured event joins the capture.
CUresult waitInCapture(const Call &call, const std::shared_ptr<Stream> &stream, const Event &event);

} // namespace trainc::emulator
