// What generators of CPU code ask of the module that they write into.
#pragma once

#include "lib/Codegen/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace trainc::codegen {

/// A cache line is 64 bytes, and so is the widest vector. A block's rows stay in the second-level cache.
inline constexpr TargetLimits kCpuLimits{.bufferAlignment = 64, .longestRow = 65536, .blockBytes = 256 << 10};

/// How the kernels of a module compute products of f32 numbers.
Fp32Products fp32Products(mlir::ModuleOp kernels);

} // namespace trainc::codegen
