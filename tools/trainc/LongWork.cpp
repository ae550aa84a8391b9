#include "tools/trainc/LongWork.h"

#include "runtime/base/print.h"
#include "runtime/base/stop_signal.h"

#include <unistd.h>

namespace trainc {

Status runLongWork(const char *done,
                   const std::function<Status(std::function<bool(uint64_t, uint64_t)> progress)> &work) {
  const bool terminal = isatty(STDERR_FILENO);
  catchStopSignals();
  Status status = work([=](uint64_t bytes, uint64_t total) {
    if (terminal)
      put(stderr, fmt::format("\r{} {:.1f} of {:.1f} MB", done, double(bytes) / 1e6, double(total) / 1e6));
    return stopSignal() == nullptr;
  });
  if (terminal)
    put(stderr, "\n");
  if (!status.ok() && stopSignal())
    return failed("{} ({})", status.message(), stopSignal());
  return status;
}

} // namespace trainc
