// trainrun: runs a plan.
#include "runtime/base/lack_of_memory.h"
#include "runtime/base/mapped_file.h"
#include "runtime/base/print.h"
#include "runtime/base/thread.h"
#include "tools/trainrun/launch.h"

#include <csignal>
#include <sys/resource.h>

namespace trainc {

namespace {

void allowManyFiles() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// From then on all standard streams are open; a file that grows beyond a limit and a pipe whose reader is
/// gone give errors instead of signals, and so does a mapped file that becomes shorter while it is read; and
/// as many files can be open as the system allows, for data in many.
void prepareProcess() {
  claimStandardStreams();
  giveUpWithoutMemoryUnlessCaught();
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  surviveLostPages();
  allowManyFiles();
}

} // namespace

} // namespace trainc

int main(int argc, char **argv) {
  using namespace trainc;
  prepareProcess();
  if (const Status status = ensureStack(); !status.ok())
    return refuseToLaunch(Options(), status);
  const Result<std::optional<Options>> options = parseOptions(argc, argv);
  if (!options.ok())
    return refuseToLaunch(Options(), options.status());
  return *options ? launch(**options) : 0;
}
