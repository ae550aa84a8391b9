// `trainc compile` and `trainc estimate` in a build without LLVM.
#include "tools/trainc/Commands.h"

namespace trainc {

static int refuse(std::string_view command, const std::string &model) {
  return finish(invalidInput(
      "{}: this trainc was built without LLVM; it has tokenize, consolidate, sign, dump and report. "
      "Compile {} with a trainc that was built with LLVM (cmake --preset release), on any "
      "machine, and bring the plan here",
      command, model));
}

int runCompile(const CompileCommand &command) { return refuse("compile", command.model); }
int runEstimate(const EstimateCommand &command) { return refuse("estimate", command.model); }

} // namespace trainc
