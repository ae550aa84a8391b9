// What the words of `precision` need of a program and its model.
#pragma once

#include "lib/Instantiate/Binding.h"

namespace trainc {

/// Columns of the data are f32, or of the type that the program computes in, and bf16 holds parameters, and
/// fp8 multiplies, with precision bf16 alone; anything else is an error at the program. Words that do nothing
/// are warned of.
mlir::LogicalResult checkPrecision(train::ProgramOp program);

/// Each pattern of `keep` matches a parameter of the model, whose states are declared; else an error at the
/// program names the nearest parameter, or some.
mlir::LogicalResult checkKept(const Binding &binding);

} // namespace trainc
