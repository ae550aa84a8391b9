// What generators of CPU code ask of the module that they write into.
#pragma once

#include "lib/Codegen/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace trainc::codegen {

/// A cache line is 64 bytes, and so is the widest vector. Threads have stacks of 1 MiB or more, of which
/// products take most.
inline constexpr TargetLimits kCpuLimits{.bufferAlignment = 64, .longestRow = 65536, .stackBytes = 256 << 10};

/// How the kernels of a module compute products of f32 numbers.
Fp32Products fp32Products(mlir::ModuleOp kernels);

} // namespace trainc::codegen
