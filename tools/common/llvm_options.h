// What command lines made of LLVM's parser share.
#pragma once

#include "llvm/Support/CommandLine.h"

namespace trainc {

/// Leaves out of --help what is registered so far: hundreds of options of LLVM's libraries, for every machine
/// that they know. --help-hidden lists them.
inline void hideLibraryOptions() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (name != "help" && name != "version")
      option->setHiddenFlag(llvm::cl::Hidden);
}

} // namespace trainc
