#include "dialects/Train/Names.h"

#include "llvm/ADT/STLExtras.h"

using namespace trainc;

static constexpr llvm::StringRef kReserved[] = {
    // entries
    "init", "begin_step", "micro_step", "last_micro_step", "update", "eval", "prefill", "decode",
    // scalars and outputs
    "lr", "seed", "step", "micro", "position", train::kLossState, "grad_norm", "finite", "eval_loss",
    "eval_targets", "targets", "logits", "bias_correction1", "bias_correction2",
    // the module of generated code
    "kernels",
    // what a safetensors file says of itself
    "__metadata__"};

/// Each with a parameter's, a loss's or a cache's name behind it.
static constexpr llvm::StringRef kPrefixes[] = {"exp_avg.", "exp_avg_sq.", "momentum.", "grad.",
                                                "targets.", "cache.",      "bucket.",   "partial."};

bool train::isReservedName(llvm::StringRef name) {
  return llvm::is_contained(kReserved, name) ||
         llvm::any_of(kPrefixes, [&](llvm::StringRef prefix) { return name.starts_with(prefix); });
}
