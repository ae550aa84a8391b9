#include "tools/trainrun/launch.h"
#include "tools/trainrun/process.h"

int main(int argc, char **argv) {
  using namespace trainc;
  prepareProcess();
  const Result<std::optional<Options>> options = parseOptions(argc, argv);
  if (!options.ok())
    return refuseToLaunch(Options(), options.status());
  return *options ? launch(**options) : 0;
}
