// The instructions of machine code as text.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace trainc::codegen::harness {

/// Instructions of an x86-64 ELF object, one per line, in LLVM's syntax. The object must be valid.
std::vector<std::string> instructions(llvm::StringRef object);

} // namespace trainc::codegen::harness
