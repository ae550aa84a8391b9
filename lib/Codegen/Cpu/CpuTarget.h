// What generators of CPU code ask of the module that they write into.
#pragma once

#include "lib/Codegen/Fp32Products.h"

#include "mlir/IR/BuiltinOps.h"

namespace trainc::codegen {

/// How the kernels of a module compute products of f32 numbers.
Fp32Products fp32Products(mlir::ModuleOp kernels);

} // namespace trainc::codegen
