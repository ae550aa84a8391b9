// Settings of a program by name, for options, the compiler and reports.
#pragma once

#include "dialects/Train/ProgramWords.h"
#include "dialects/Train/Train.h"

#include <vector>

namespace trainc::train {

/// Writes options into the program, before any pass reads it. Fails with an error at the program if a value
/// is invalid.
llvm::LogicalResult applyOptions(ProgramOp program, llvm::ArrayRef<GivenSetting> given);

/// Whether the setting was given as an option.
bool isFromOption(ProgramOp program, llvm::StringRef word);

/// Whether the compiler chose the setting because it was not given.
bool isDerived(ProgramOp program, llvm::StringRef word);

/// Sets a setting that the compiler chose; `from` is the reason.
void setDerived(ProgramOp program, llvm::StringRef word, mlir::Attribute value, llvm::StringRef from);

/// Sets several settings that the compiler chose; values have the syntax of options.
void setDerived(ProgramOp program, llvm::ArrayRef<GivenSetting> chosen, llvm::StringRef from);

/// A setting in force: its value and the value's source: a file and line, an option, "default" or "derived:
/// ...".
struct SettingInForce {
  std::string word, value, source;
};

/// Returns all settings in force: model, optimizer and schedule first, then kProgramWords.
std::vector<SettingInForce> settingsInForce(ProgramOp program);

/// Returns the entry in the program's `sources` for a group's line.
mlir::NamedAttribute groupSource(GroupAttr group, mlir::LocationAttr line);

/// Returns the valid words of a setting of kind Choice or Words.
llvm::SmallVector<llvm::StringRef> choicesOf(const ProgramWord &word);
/// Fails with an error that lists the valid words if `value`, or one of its words, is invalid.
llvm::LogicalResult checkChoice(const ProgramWord &word, llvm::StringRef value,
                                llvm::function_ref<mlir::InFlightDiagnostic()> error);
/// Returns the setting with this name; null if there is none.
const ProgramWord *findProgramWord(llvm::StringRef word);

} // namespace trainc::train
