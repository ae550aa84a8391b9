// Which settings of a program's parameter groups hold for a parameter.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc::train {

/// A parameter's settings after all groups.
struct ParameterSettings {
  double lrScale = 1;
  double weightDecay = 0;
  bool frozen = false;
};

/// True if `name` is `pattern`, in which each `*` stands for any text.
bool matchesPattern(llvm::StringRef pattern, llvm::StringRef name);

/// The settings of parameter `name` of `rank` dimensions: those of the groups that match, later ones winning.
/// Without a group's word, parameters of fewer than two dimensions are not decayed.
ParameterSettings settingsOf(ProgramOp program, llvm::StringRef name, int64_t rank);

} // namespace trainc::train
