// In-process linking of kernels into a shared object.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace trainc::codegen {

/// Links relocatable ELF objects into a shared object that needs nothing else; fails with the linker's
/// message where they refer to anything outside. One call at a time: the linker has global state.
llvm::Expected<std::string> linkSharedObject(llvm::ArrayRef<llvm::StringRef> objects);

} // namespace trainc::codegen
