// Which settings of a program hold for a parameter, and which names a parameter cannot have.
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

/// True for what names a part of the step: a scalar, an entry, or a state that a pass makes, such as
/// "exp_avg.w" beside parameter "w". Parameters and programs have other names.
bool isReservedName(llvm::StringRef name);

} // namespace trainc::train
