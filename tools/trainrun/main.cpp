#include "tools/trainrun/session.h"
#include "tools/trainrun/stop_signal.h"

#include <cstdio>

int main(int argc, char **argv) {
  using namespace trainc;
  const Result<std::optional<Options>> options = parseOptions(argc, argv);
  if (!options.ok()) {
    fmt::print(stderr, "error: {}\n", options.status().message());
    return options.status().exitCode();
  }
  if (!*options)
    return 0;
  const Result<LogLevel> level = parseLogLevel((*options)->logLevel);
  Log log(stderr, level.ok() ? *level : LogLevel::kInfo);
  installSignals();
  const Status status = runSession(**options, log);
  if (!status.ok())
    log.error("{}", status.message());
  return status.exitCode();
}
