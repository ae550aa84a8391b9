#include "dialects/Train/Optimizers.h"

#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef, llvm::StringRef;
using namespace trainc::train;

#define TRAINC_OPTIMIZER(source, kind, rule, moments, ...)                                                   \
  static constexpr OptimizerNumber kNumbers_##kind[] = {__VA_ARGS__};
#include "dialects/Train/Optimizers.def"
#undef TRAINC_OPTIMIZER

ArrayRef<OptimizerKind> trainc::train::optimizerKinds() {
  static constexpr OptimizerKind kinds[] = {
#define TRAINC_OPTIMIZER(source, kind, rule, moments, ...) {#kind, moments, kNumbers_##kind},
#include "dialects/Train/Optimizers.def"
#undef TRAINC_OPTIMIZER
  };
  return kinds;
}

const OptimizerKind *trainc::train::findOptimizerKind(StringRef word) {
  const auto *kind =
      llvm::find_if(optimizerKinds(), [&](const OptimizerKind &each) { return each.word == word; });
  return kind == optimizerKinds().end() ? nullptr : kind;
}
