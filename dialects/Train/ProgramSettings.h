// Settings of a program by name, for options, the compiler and reports.
#pragma once

#include "dialects/Train/Train.h"
#include "plan/settings/settings.h"

#include <vector>

namespace trainc::train {

/// Writes options into the program, before any pass reads it. Fails with an error at the program if a value
/// is invalid.
llvm::LogicalResult applyOptions(ProgramOp program, llvm::ArrayRef<GivenSetting> given);

/// Whether the setting was given as an option.
bool isFromOption(ProgramOp program, llvm::StringRef name);

/// Whether the compiler chose the setting because it was not given.
bool isDerived(ProgramOp program, llvm::StringRef name);

/// Returns both names of a setting, for messages, e.g. "zero_stage (--zero-stage)".
std::string bothNames(const Setting &setting);

/// Sets a setting that the compiler chose; `value` has the syntax of options, `from` is the reason.
void setDerived(ProgramOp program, const Setting &setting, const llvm::Twine &value, llvm::StringRef from);

/// Sets several settings that the compiler chose.
void setDerived(ProgramOp program, llvm::ArrayRef<GivenSetting> chosen, llvm::StringRef from);

/// Replaces the value of a setting by one with the same meaning; its source stays the same.
void setValue(ProgramOp program, const Setting &setting, const llvm::Twine &value);

/// A setting in force: its value and the value's source: a file and line, an option, "default" or "derived:
/// ...".
struct SettingInForce {
  std::string word, value, source;
  bool changesNumbers = false; ///< see Setting::changesNumbers
};

/// Returns all settings in force: model, optimizer and schedule first, then kSettings.
std::vector<SettingInForce> settingsInForce(ProgramOp program);

/// Returns the entry in the program's `sources` for a group's line.
mlir::NamedAttribute groupSource(GroupAttr group, mlir::LocationAttr line);

/// Returns the value of a setting; null if it is not set.
mlir::Attribute valueIn(ProgramOp program, const Setting &setting);

/// Starts an error.
using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Fails with an error if the attribute is no value of the setting.
llvm::LogicalResult checkValue(const Setting &setting, mlir::Attribute value, EmitError error);

} // namespace trainc::train
