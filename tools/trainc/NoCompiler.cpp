// `trainc compile` in a build without LLVM.
#include "tools/trainc/Commands.h"

namespace trainc {

int runCompile(const CompileCommand &command) {
  return finish(invalidInput(
      "compile: this trainc was built without LLVM; it has tokenize, consolidate, sign and dump. "
      "Compile {} with a trainc that was built with LLVM (cmake --preset release), on any "
      "machine, and bring the plan here",
      command.model));
}

} // namespace trainc
