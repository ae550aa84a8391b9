// Code of kernels that an earlier compilation made.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace trainc::codegen {

/// Returns the code that `make` makes, or, if the environment variable TRAINC_KERNEL_CACHE names a folder, a
/// copy of what an earlier call made for an equal `key`. The key must hold all that the code depends on,
/// besides this version of LLVM and of createMachine(). A damaged entry is replaced, and a folder that cannot
/// be written is not used. Calls may run in parallel, also in several processes.
llvm::Expected<std::string> cachedCode(llvm::StringRef key,
                                       llvm::function_ref<llvm::Expected<std::string>()> make);

} // namespace trainc::codegen
