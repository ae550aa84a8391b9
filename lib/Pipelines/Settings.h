// Settings of strategies, as settings of a program.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Planner/Evaluate.h"

namespace trainc {

/// Whether the program's text or an option sets the word, or the compiler chose it.
bool isDecided(train::ProgramOp program, llvm::StringRef word);

/// Whether the program's text or an option sets the word, and the compiler did not choose it.
bool isGiven(train::ProgramOp program, llvm::StringRef word);

/// Writes the settings into the program, as derived from `source`.
void decide(train::ProgramOp program, const Settings &settings, llvm::StringRef source);

/// Returns e.g. "--zero-stage=3 --micro-batch=1".
std::string asOptions(llvm::ArrayRef<SettingValue> settings);

/// Whether the setting has no effect before activation checkpointing: offloading, checkpointing and how long
/// gathered parameters are kept.
bool isLate(const SettingValue &setting);
bool isOfOffload(const SettingValue &setting);
bool isOfCheckpoints(const SettingValue &setting);

} // namespace trainc
