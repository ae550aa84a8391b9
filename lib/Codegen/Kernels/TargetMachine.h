// LLVM's code generator for a processor.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace trainc::codegen {

/// A processor in LLVM's words.
struct Processor {
  const char *backend; ///< LLVM's target, for messages
  const char *triple;
  const char *name;
  const char *features;
};

/// Creates the code generator of a backend that is initialised. It fuses no multiplication with an addition,
/// because all fused ones are explicit in the IR. Fails if LLVM was built without the backend.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const Processor &processor);

} // namespace trainc::codegen
