// In-process linking of kernels to a shared object.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace trainc::codegen {

/// Links relocatable ELF objects to a self-contained shared object. Fails with the linker's message if they
/// refer to other symbols. Calls are serialised, because the linker has global state.
llvm::Expected<std::string> linkSharedObject(llvm::ArrayRef<llvm::StringRef> objects);

} // namespace trainc::codegen
