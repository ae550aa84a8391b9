// Settings of a program by their words: what options, the compiler and reports do with them.
#pragma once

#include "dialects/Train/ProgramWords.h"
#include "dialects/Train/Train.h"

#include <vector>

namespace trainc::train {

/// Writes what options say into the program, before any pass reads it. Fails, with an error at the program,
/// on values that it refuses.
llvm::LogicalResult applyOptions(ProgramOp program, llvm::ArrayRef<GivenSetting> given);

/// Whether an option said the word.
bool isFromOption(ProgramOp program, llvm::StringRef word);

/// Whether the compiler decided it, as nobody gave it.
bool isDerived(ProgramOp program, llvm::StringRef word);

/// Sets what the compiler decides, and what from.
void setDerived(ProgramOp program, llvm::StringRef word, mlir::Attribute value, llvm::StringRef from);

/// The same for several, with values as options have them.
void setDerived(ProgramOp program, llvm::ArrayRef<GivenSetting> chosen, llvm::StringRef from);

/// A setting in force: its value, and where that comes from: a file and line, an option, "default" or
/// "derived: ...".
struct SettingInForce {
  std::string word, value, source;
};

/// All of them: what is trained first, then kProgramWords.
std::vector<SettingInForce> settingsInForce(ProgramOp program);

/// What `sources` of a program notes of a group's line.
mlir::NamedAttribute groupSource(GroupAttr group, mlir::LocationAttr line);

/// The words of Choice or Words.
llvm::SmallVector<llvm::StringRef> choicesOf(const ProgramWord &word);
/// Fails with an error that names the words if `value`, or one of its words, is none of them.
llvm::LogicalResult checkChoice(const ProgramWord &word, llvm::StringRef value,
                                llvm::function_ref<mlir::InFlightDiagnostic()> error);
/// The setting of that word; null if there is none.
const ProgramWord *findProgramWord(llvm::StringRef word);

} // namespace trainc::train
