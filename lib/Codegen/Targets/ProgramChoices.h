// Settings of a program that several targets read, as targets take them.
#pragma once

#include "lib/Codegen/Target.h"

namespace trainc::codegen {

/// Returns the arithmetic of f32 products (`fp32_products`).
Fp32Products fp32ProductsOf(train::ProgramOp program);

/// Returns the ops that libraries execute (`library_calls`; none by default), with all epilogues.
LibraryCalls libraryCallsOf(train::ProgramOp program);

} // namespace trainc::codegen
