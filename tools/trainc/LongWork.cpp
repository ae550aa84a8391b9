#include "tools/trainc/LongWork.h"

#include "base/clock.h"
#include "base/print.h"
#include "base/stop_signal.h"
#include "base/units.h"

#include <algorithm>
#include <unistd.h>

namespace trainc {

Status runLongWork(const char *done,
                   const std::function<Status(std::function<bool(uint64_t, uint64_t)> progress)> &work) {
  const bool terminal = isatty(STDERR_FILENO);
  const double begin = steadySeconds();
  catchStopSignals();
  Status status = work([=](uint64_t bytes, uint64_t total) {
    if (terminal) {
      const double left = (steadySeconds() - begin) * (double(total) / std::max(1.0, double(bytes)) - 1);
      put(stderr, fmt::format("\r\x1b[K{} {:.1f} of {:.1f} MB  ETA {}", done, double(bytes) / 1e6,
                              double(total) / 1e6, formatDuration(left)));
    }
    return stopSignal() == nullptr;
  });
  if (terminal)
    put(stderr, "\n");
  if (!status.ok() && stopSignal())
    return failed("{} ({})", status.message(), stopSignal());
  return status;
}

} // namespace trainc
