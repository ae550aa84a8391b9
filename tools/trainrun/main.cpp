#include "runtime/base/print.h"
#include "tools/trainrun/launch.h"
#include "tools/trainrun/process.h"

int main(int argc, char **argv) {
  using namespace trainc;
  prepareProcess();
  const Result<std::optional<Options>> options = parseOptions(argc, argv);
  if (!options.ok()) {
    put(stderr, fmt::format("error: {}\n", options.status().message()));
    return options.status().exitCode();
  }
  return *options ? launch(**options) : 0;
}
