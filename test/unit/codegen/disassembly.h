// The instructions of machine code as text.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace trainc::codegen::testing {

/// Those of an ELF object for x86-64, one a line, as LLVM writes them. The object must be sound.
std::vector<std::string> instructions(llvm::StringRef object);

} // namespace trainc::codegen::testing
