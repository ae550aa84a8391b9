// trainrun: runs a plan.
#include "base/lack_of_memory.h"
#include "base/mapped_file.h"
#include "base/print.h"
#include "base/thread.h"
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

/// Opens all standard streams; makes writes to a closed pipe or beyond the file size limit fail instead of
/// raising signals; survives truncation of mapped files; and raises the limit of open files, for data in many
/// files.
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
