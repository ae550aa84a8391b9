// PEFT's description of adapters.
#pragma once

#include "lib/Adapters/Linears.h"

namespace trainc::adapters {

/// Adds `adapter_config.json` to the program's exports. `selected` are the layers with adapters, `saved` the
/// paths of the layers that are trained without one.
void exportConfig(train::ProgramOp program, const train::AdapterSettings &settings,
                  llvm::ArrayRef<Linear> selected, llvm::ArrayRef<std::string> saved);

} // namespace trainc::adapters
