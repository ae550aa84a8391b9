// trainrun: runs a plan.
#include "runtime/base/print.h"
#include "tools/trainrun/launch.h"

#include <csignal>
#include <sys/resource.h>
#include <unistd.h>

namespace trainc {

namespace {

/// Only what a signal handler may call.
void onLostPage(int) {
  constexpr std::string_view kMessage = "error: a file became shorter, or could not be read any more, while "
                                        "its bytes were used (weights of --init or "
                                        "--resume, the header of data)\n";
  (void)!::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(1);
}

void allowManyFiles() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// From then on all standard streams are open; a file that grows beyond a limit and a pipe whose reader is
/// gone give errors instead of signals; a mapped file that becomes shorter while it is read ends the process
/// with a message and exit code 1; and as many files can be open as the system allows, for data in many.
void prepareProcess() {
  claimStandardStreams();
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGBUS, onLostPage);
  allowManyFiles();
}

} // namespace

} // namespace trainc

int main(int argc, char **argv) {
  using namespace trainc;
  prepareProcess();
  const Result<std::optional<Options>> options = parseOptions(argc, argv);
  if (!options.ok())
    return refuseToLaunch(Options(), options.status());
  return *options ? launch(**options) : 0;
}
