// Stubs of `trainc compile`, `estimate` and `calibrate` for a build without LLVM.
#include "tools/trainc/Commands.h"

namespace trainc {

static int refuse(std::string_view command, const std::string &model) {
  return finish(
      invalidInput("{}: this trainc was built without LLVM; it has import, export, tokenize, consolidate, "
                   "sign, dump, report "
                   "and simulate. "
                   "Compile {} with a trainc that was built with LLVM (cmake --preset release), on any "
                   "machine, and bring the plan here",
                   command, model));
}

int runCalibrate(const CalibrateCommand &) {
  return finish(
      invalidInput("calibrate: this trainc was built without LLVM, and what it measures are kernels "
                   "that the compiler makes; take one that was built with LLVM (cmake --preset release)"));
}

int runCompile(const CompileCommand &command) { return refuse("compile", command.model); }
int runEstimate(const EstimateCommand &command) { return refuse("estimate", command.model); }

} // namespace trainc
