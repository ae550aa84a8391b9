// Programs whose steps would change nothing.
#pragma once

#include "dialects/Train/Train.h"

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// Writes into the program why it trains nothing, and warns at `place`, unless it says so already. Its plan
/// evaluates; a run that is to train is rejected with that reason.
void noteNoTraining(train::ProgramOp program, mlir::Location place, llvm::StringRef reason);

/// Calls noteNoTraining() at the program if all parameters of `module` are frozen, and there is one.
void noteIfAllFrozen(train::ProgramOp program, mlir::ModuleOp module);

} // namespace trainc
