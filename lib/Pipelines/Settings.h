// Settings of strategies, as settings of a program.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Planner/Evaluate.h"

namespace trainc {

/// Whether the program's text or an option sets the setting, or the compiler chose its value.
bool isDecided(train::ProgramOp program, const train::Setting &setting);

/// Whether the program's text or an option sets the setting, and the compiler did not choose its value.
bool isGiven(train::ProgramOp program, const train::Setting &setting);

/// Returns the declaration of a known setting.
const train::Setting &settingOf(const train::GivenSetting &given);

/// Returns e.g. "--zero-stage=3 --micro-batch=1".
std::string asOptions(llvm::ArrayRef<train::GivenSetting> settings);

/// Returns the settings for which `isWanted` holds.
Settings only(const Settings &settings, llvm::function_ref<bool(const train::GivenSetting &)> isWanted);

/// Whether the setting has no effect before activation checkpointing: offloading, checkpointing and how long
/// gathered parameters are kept.
bool isLate(const train::GivenSetting &setting);
bool isOfOffload(const train::GivenSetting &setting);
bool isOfCheckpoints(const train::GivenSetting &setting);

} // namespace trainc
