#include "lib/Instantiate/OffloadChecks.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace trainc;

LogicalResult trainc::checkOffload(train::ProgramOp program) {
  const StringRef words = program.getOffload().value_or("none");
  llvm::StringSet<> seen;
  for (StringRef word : llvm::split(words, ','))
    if (!seen.insert(word).second || (word == "none" && words != "none"))
      return program.emitError("offload (--offload): expected each word once, or none alone, found ")
             << words;
  if (seen.contains("activations") && seen.contains("hidden_activations"))
    return program.emitError("offload (--offload): expected activations (all that can go), or "
                             "hidden_activations (as far as copies hide), found both");
  return success();
}
