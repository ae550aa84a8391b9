// Pass `warn-idle-offload`.
#include "dialects/Train/Offloading.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Analysis/HostOps.h"
#include "lib/Offload/Passes.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_WARNIDLEOFFLOAD
#include "lib/Offload/Passes.h.inc"

/// Returns the reason why the module has no offloaded state of this kind.
static StringRef whyNone(train::Offloaded kind) {
  switch (kind) {
  case train::Offloaded::optimizer:
    return "the optimizer has no states";
  case train::Offloaded::gradients:
    return "a step accumulates no gradients";
  case train::Offloaded::activations:
    return "each value is too small, or needed too soon for its copies";
  case train::Offloaded::hidden_activations:
    return "each value is too small, or its copies do not overlap with computation";
  case train::Offloaded::none:
  case train::Offloaded::parameters:
    return "there is none";
  }
  llvm_unreachable("unknown kind of tensors");
}

/// Returns an empty text if offloading the kind has an effect.
static StringRef whyIdle(ModuleOp module, train::Offloaded kind) {
  const SmallVector<train::StateRole> roles = train::rolesOf(kind);
  bool hasState = false;
  for (auto state : module.getOps<train::StateOp>())
    if (llvm::is_contained(roles, state.getRole())) {
      if (state.getSpace() != plan::Space::device)
        return "";
      hasState = true;
    }
  return hasState ? "each of its states is too small" : whyNone(kind);
}

/// Whether offload_update host has no effect although optimizer states are on the host. Other states have
/// their own warnings.
static bool updatesNothing(ModuleOp module) {
  const auto isOnHost = [](train::StateOp state) {
    return state.getRole() == train::StateRole::optimizer && state.getSpace() == plan::Space::host;
  };
  const auto find = [](Operation *op) {
    return runsOnHost(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return llvm::any_of(module.getOps<train::StateOp>(), isOnHost) && !module.walk(find).wasInterrupted();
}

namespace {
struct WarnIdleOffload : impl::WarnIdleOffloadBase<WarnIdleOffload> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>()) {
      if (train::offloadOf(program).updatesOnHost && updatesNothing(getOperation()))
        program.emitWarning("offload_update (--offload-update) host does nothing: no update can run there "
                            "(docs/explanation/offload.md says which stay); leave it out");
      if (!train::isDerived(program, train::kOffload.name))
        for (const train::Offloaded kind : train::kOffload.of(program))
          if (const StringRef why = whyIdle(getOperation(), kind);
              kind != train::Offloaded::none && !why.empty())
            program.emitWarning("offload (--offload) ")
                << StringRef(train::kOffload.wordFor(kind)) << " does nothing: " << why << "; leave it out";
    }
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace trainc
