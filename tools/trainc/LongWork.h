// Work that takes minutes: progress on a terminal, and cancellation by a signal.
#pragma once

#include "base/status.h"

#include <cstdint>
#include <functional>

namespace trainc {

/// Runs `work`. It must call `progress` from time to time with the bytes done and in total, and end with an
/// error soon after a call returns false; that happens after a signal, and the returned error then names the
/// signal. `done` ("tokenized") is the verb shown with the bytes if standard error is a terminal.
Status runLongWork(const char *done,
                   const std::function<Status(std::function<bool(uint64_t, uint64_t)> progress)> &work);

} // namespace trainc
