#include "lib/Instantiate/OffloadChecks.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace trainc;

/// Verifies that the host can update the offloaded states. A memory limit may still choose which states these
/// are.
static LogicalResult checkUpdate(train::ProgramOp program) {
  if (program.getOffloadUpdate() != "host")
    return success();
  if (program.getTarget() != "cuda")
    return program.emitError(
        "offload_update (--offload-update) host is for GPUs: the device of target cpu is the host; "
        "leave it out, or choose target cuda");
  if (program.getOffloadTo() == "disk")
    return program.emitError(
        "offload_update (--offload-update) host updates moments in the host's memory, found offload_to "
        "(--offload-to) disk; choose host there, or leave one of them out");
  return success();
}

LogicalResult trainc::checkOffload(train::ProgramOp program) {
  const StringRef text = program.getOffload().value_or("none");
  const auto words = llvm::to_vector(llvm::split(text, ','));
  if (words.size() > 1 && llvm::is_contained(words, "none"))
    return program.emitError("offload (--offload): expected words, or none alone, found ") << text;
  if (llvm::is_contained(words, "activations") && llvm::is_contained(words, "hidden_activations"))
    return program.emitError("offload (--offload): expected activations (all that can be offloaded), or "
                             "hidden_activations (those whose copies are hidden), found both");
  return checkUpdate(program);
}
