// Work of minutes: progress on a terminal, and an end by signal.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <functional>

namespace trainc {

/// Runs `work`, which calls `progress` now and then with the bytes done and in total, and ends with an error
/// soon after it returned false: then a signal asked for it, and the error is given that reason. `done`
/// ("tokenized") is what happens to the bytes; it is shown where standard error is a terminal.
Status runLongWork(const char *done,
                   const std::function<Status(std::function<bool(uint64_t, uint64_t)> progress)> &work);

} // namespace trainc
