#include "lib/Instantiate/OffloadChecks.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace trainc;

LogicalResult trainc::checkOffload(train::ProgramOp program) {
  const StringRef text = program.getOffload().value_or("none");
  const auto words = llvm::to_vector(llvm::split(text, ','));
  if (words.size() > 1 && llvm::is_contained(words, "none"))
    return program.emitError("offload (--offload): expected words, or none alone, found ") << text;
  if (llvm::is_contained(words, "activations") && llvm::is_contained(words, "hidden_activations"))
    return program.emitError("offload (--offload): expected activations (all that can go), or "
                             "hidden_activations (as far as copies hide), found both");
  return success();
}
