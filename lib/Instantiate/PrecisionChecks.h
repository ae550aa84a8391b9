// Checks of the words of `precision` against the program and its model.
#pragma once

#include "lib/Instantiate/Binding.h"

namespace trainc {

/// Reports an error at the program if a data column is neither f32 nor of the compute type. Also reports an
/// error if bf16 parameters or fp8 products are used without precision bf16. Warns about words without
/// effect.
mlir::LogicalResult checkPrecision(train::ProgramOp program);

/// Reports an error at the program unless each pattern of `keep` matches a parameter. The parameters' states
/// must have been declared. The error suggests similar or existing names.
mlir::LogicalResult checkKept(const Binding &binding);

} // namespace trainc
