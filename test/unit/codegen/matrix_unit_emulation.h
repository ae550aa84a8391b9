// The CPU's matrix unit (Intel AMX) as functions of this process, for CPUs without one.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace trainc::codegen::testing {

/// Replaces the unit's instructions in a module of kernels by calls of functions that do what Intel's manual
/// says of them. The machine code then runs in this process alone, on any CPU that has the rest of its level.
///
/// Sums are as the instruction makes them: those of even and of odd terms apart, by fused multiply-adds; then
/// their sum; then that and the tile's. All are rounded to the nearest, and numbers below 2^-126 are zero
/// wherever they occur. A use of tiles that are not configured fails the test.
void emulateMatrixUnit(mlir::ModuleOp kernels);

/// Whether this thread has configured the emulated unit and not released it.
bool isMatrixUnitInUse();

} // namespace trainc::codegen::testing
