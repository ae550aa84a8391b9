// In-process linking of kernels into a shared object.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace trainc::codegen {

/// Links one relocatable ELF object into a shared object that needs nothing else; fails with the linker's
/// message where it refers to anything outside. One call at a time: the linker has global state.
llvm::Expected<std::string> linkSharedObject(llvm::StringRef object);

} // namespace trainc::codegen
