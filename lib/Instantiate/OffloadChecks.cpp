#include "lib/Instantiate/OffloadChecks.h"

#include "plan/settings/settings.h"

using namespace mlir;
using namespace trainc;

/// Verifies that the host can update the offloaded states. A memory limit may still choose which states these
/// are.
static LogicalResult checkUpdate(train::ProgramOp program) {
  if (train::kOffloadUpdate.of(program) != train::OffloadUpdate::host)
    return success();
  if (const TargetTraits &target = train::targetOf(program); target.isHost)
    return program.emitError("offload_update (--offload-update) host is for GPUs: the device of target ")
           << target.name << " is the host; leave it out, or choose target "
           << std::string_view(namesOfTargets(hasDeviceMemory));
  if (train::kOffloadTo.given(program) == train::OffloadTo::disk)
    return program.emitError(
        "offload_update (--offload-update) host updates moments in the host's memory, found offload_to "
        "(--offload-to) disk; choose host there, or leave one of them out");
  return success();
}

LogicalResult trainc::checkOffload(train::ProgramOp program) {
  using enum train::Offloaded;
  const std::vector<train::Offloaded> kinds = train::kOffload.of(program);
  if (kinds.size() > 1 && llvm::is_contained(kinds, none))
    return program.emitError("offload (--offload): expected words, or none alone, found ")
           << StringRef(*train::kOffload.textIn(program));
  if (llvm::is_contained(kinds, activations) && llvm::is_contained(kinds, hidden_activations))
    return program.emitError("offload (--offload): expected activations (all that can be offloaded), or "
                             "hidden_activations (those whose copies are hidden), found both");
  return checkUpdate(program);
}
