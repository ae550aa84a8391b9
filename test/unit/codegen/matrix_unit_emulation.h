// The CPU's matrix unit (Intel AMX) as functions of this process, for CPUs without one.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace trainc::codegen::harness {

/// Replaces AMX instructions in a module of kernels by calls of functions that implement Intel's manual. The
/// machine code then runs only in this process, on any CPU with the other features of its level.
///
/// Sums follow the instruction: even and odd terms separately, by fused multiply-adds; then their sum; then
/// the sum with the tile. All are rounded to nearest, and numbers below 2^-126 are flushed to zero. A use of
/// unconfigured tiles fails the test.
void emulateMatrixUnit(mlir::ModuleOp kernels);

/// Whether this thread has configured the emulated unit and not released it.
bool isMatrixUnitInUse();

} // namespace trainc::codegen::harness
