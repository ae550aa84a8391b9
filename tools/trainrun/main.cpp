#include "runtime/base/print.h"
#include "tools/trainrun/process.h"
#include "tools/trainrun/session.h"

#include <new>

namespace {

/// What no Status can say: that there is no memory for it. Nothing else throws.
trainc::Status runToTheEnd(const trainc::Options &options, trainc::Log &log) {
  try {
    return runSession(options, log);
  } catch (const std::bad_alloc &) {
    return {trainc::StatusCode::kFailed, "out of memory"};
  }
}

} // namespace

int main(int argc, char **argv) {
  using namespace trainc;
  prepareProcess();
  const Result<std::optional<Options>> options = parseOptions(argc, argv);
  if (!options.ok()) {
    put(stderr, fmt::format("error: {}\n", options.status().message()));
    return options.status().exitCode();
  }
  if (!*options)
    return 0;
  const Result<LogLevel> level = parseLogLevel((*options)->logLevel);
  Log log(stderr, level.ok() ? *level : LogLevel::kInfo);
  const Status status = runToTheEnd(**options, log);
  if (!status.ok())
    log.error("{}", status.message());
  return status.exitCode();
}
