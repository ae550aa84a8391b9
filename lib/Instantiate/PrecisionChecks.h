// Checks of the words of `precision` against the program and its model.
#pragma once

#include "lib/Instantiate/Binding.h"

namespace trainc {

/// Reports an error at the program unless data columns are f32 or of the compute type, and bf16 parameters
/// and fp8 products are used with precision bf16 only. Warns about words without effect.
mlir::LogicalResult checkPrecision(train::ProgramOp program);

/// Reports an error at the program unless each pattern of `keep` matches a parameter. The parameters' states
/// must have been declared. The error suggests similar or existing names.
mlir::LogicalResult checkKept(const Binding &binding);

} // namespace trainc
