// Lanes of bf16 and f16 numbers in memory, which are f32 numbers in registers.
#pragma once

#include "lib/Codegen/Cpu/Emitter.h"

namespace trainc::codegen {

/// What numbers of type `element` are multiplied and added up in: f32 for bf16 and f16, else their own.
mlir::Type sumElement(mlir::Type element);

/// Loads lanes of bf16 or f16 numbers as f32; every number has the same value there. Masked-off lanes are
/// zero and not touched.
mlir::Value loadWidened(Emitter &emit, const Address &from, int64_t lanes, Mask mask = {});

/// Stores f32 lanes as bf16 or f16 numbers, rounded to the nearest, ties to even; NaN stays NaN.
void storeRounded(Emitter &emit, mlir::Value value, const Address &to, Mask mask = {});

} // namespace trainc::codegen
