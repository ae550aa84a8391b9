#include "tools/trainrun/process.h"

#include "runtime/base/print.h"

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

} // namespace

void prepareProcess() {
  claimStandardStreams();
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGBUS, onLostPage);
  allowManyFiles();
}

} // namespace trainc
