// Low-rank adapters (LoRA) of a program.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc::train {

/// Settings of the theme Adapters, with their defaults.
struct AdapterSettings {
  llvm::SmallVector<llvm::StringRef> layers; ///< patterns of the layers that get an adapter
  llvm::SmallVector<llvm::StringRef> saved;  ///< patterns of the layers that are trained as they are
  int64_t rank = 0, alpha = 0;
  bool rootOfRank = false; ///< whether alpha is divided by the square root of the rank (rsLoRA)
  double dropout = 0;      ///< probability with which an adapter's input is dropped in training

  bool any() const { return !layers.empty(); }
};

AdapterSettings adaptersOf(ProgramOp program);

/// Value of `lora` that means all linear layers except the last.
inline constexpr llvm::StringLiteral kAllLinear = "all-linear";

/// Whether `pattern` matches the layer's path or the end of it after a dot; `*` is any text.
bool matchesLayer(llvm::StringRef pattern, llvm::StringRef layer);

} // namespace trainc::train
