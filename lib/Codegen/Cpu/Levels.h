// The instruction-set levels that plans hold code for, and what a module of kernels says of its program.
#pragma once

#include "lib/Codegen/Fp32Products.h"
#include "lib/Codegen/KernelModule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::codegen {

/// How products of bf16 numbers are computed.
enum class Bf16Products {
  Widened,   ///< as f32, by fused multiply-adds
  Pairs,     ///< by instructions that multiply and add pairs (AVX512-BF16)
  MatrixUnit ///< tile by tile (AMX)
};

struct Level {
  const char *name;
  const char *llvmCpu;
  std::vector<std::string> features; ///< beyond SSE4.2, as /proc/cpuinfo names them
  const char *llvmFeatures;          ///< beyond llvmCpu's, as LLVM names them
  int64_t lanes;                     ///< f32 numbers of a vector register
  /// The largest block of f32 sums that matrix products keep in registers, beside a row of B and one number
  /// of A; divisors of the panels' sizes (FmaProducts.h). The wider it is, the fewer loads a multiply-add has
  /// beside it, which counts where another hardware thread of the core takes turns.
  int64_t registerRows, registerColumns;
  Bf16Products bf16Products;
  /// The level whose code this one has, but for products of bf16 numbers, which it has instructions for; null
  /// where that is itself.
  const char *base = nullptr;
};

/// Those that kernels with such products can have code for: all that can run it, the lowest first.
const std::vector<Level> &allLevels(Fp32Products products);

/// Those of them that `words` choose (`cpu` of train.program).
std::vector<Level> chooseLevels(Fp32Products products, llvm::StringRef words);

/// `levels`, each with a base as its base.
std::vector<Level> withBases(Fp32Products products, llvm::ArrayRef<Level> levels);

/// Notes on a module of kernels what of its program their code depends on.
void noteProgram(mlir::ModuleOp kernels, Fp32Products products, llvm::StringRef words);

/// How the kernels of a module compute products of f32 numbers.
Fp32Products fp32Products(mlir::ModuleOp kernels);

/// Those that a module of kernels has code for. Levels with a base are among them where kernels have products
/// of bf16 numbers; else their base is.
std::vector<Level> levels(mlir::ModuleOp kernels);

/// Notes that a module's kernels have such products.
void addBf16Products(mlir::ModuleOp kernels);

/// Those, with bases.
std::vector<Level> baseLevels(mlir::ModuleOp kernels);

/// A function whose code differs between levels: declared as `name`, and defined once for each level of
/// `among` as variantName(name, level). A level whose variant there is none of takes its base's. Made at its
/// first use; `body` fills a function without results. Whatever its code depends on beside the level is part
/// of its name.
mlir::func::FuncOp
functionWithVariants(KernelModule &kernels, llvm::StringRef name, mlir::TypeRange inputs,
                     llvm::ArrayRef<Level> among,
                     llvm::function_ref<void(mlir::OpBuilder &, mlir::func::FuncOp, const Level &)> body);
/// Among base levels.
mlir::func::FuncOp
functionWithVariants(KernelModule &kernels, llvm::StringRef name, mlir::TypeRange inputs,
                     llvm::function_ref<void(mlir::OpBuilder &, mlir::func::FuncOp, const Level &)> body);

std::string variantName(llvm::StringRef name, llvm::StringRef level);

} // namespace trainc::codegen
