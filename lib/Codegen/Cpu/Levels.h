// Instruction-set levels that plans have code for, and attributes of a module of kernels.
#pragma once

#include "lib/Codegen/Fp32Products.h"
#include "lib/Codegen/KernelModule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::codegen {

/// Computation of products of bf16 numbers.
enum class Bf16Products {
  Widened,   ///< widened to f32, by fused multiply-adds
  Pairs,     ///< by instructions that multiply and add pairs (AVX512-BF16)
  MatrixUnit ///< by matrix tiles (AMX)
};

struct Level {
  const char *name;
  const char *llvmCpu;
  std::vector<std::string> features; ///< required beyond SSE4.2, with the names of /proc/cpuinfo
  const char *llvmFeatures;          ///< required beyond those of llvmCpu, with LLVM's names
  int64_t lanes;                     ///< f32 numbers per vector register
  /// The largest block of f32 sums that matrix products keep in registers, besides a row of B and one number
  /// of A; divisors of the panels' sizes (FmaProducts.h). Wider blocks need fewer loads per multiply-add,
  /// which matters if two hardware threads share the core.
  int64_t registerRows, registerColumns;
  Bf16Products bf16Products;
  /// Name of the level that has the same code except for products of bf16 numbers; null if this level has
  /// none.
  const char *base = nullptr;
};

/// Returns the levels that kernels with such products can have code for, the lowest first.
const std::vector<Level> &allLevels(Fp32Products products);

/// Returns the levels that `words` select (`cpu` of train.program).
std::vector<Level> chooseLevels(Fp32Products products, llvm::StringRef words);

/// Returns `levels` with each level that has a base replaced by its base.
std::vector<Level> withBases(Fp32Products products, llvm::ArrayRef<Level> levels);

/// Records on a module of kernels the settings that its code depends on.
void noteProgram(mlir::ModuleOp kernels, Fp32Products products, llvm::StringRef words);

/// Returns the arithmetic of f32 products in a module of kernels.
Fp32Products fp32Products(mlir::ModuleOp kernels);

/// Returns the levels that a module of kernels has code for. If kernels have products of bf16 numbers, levels
/// with a base are separate; otherwise they are replaced by their base.
std::vector<Level> levels(mlir::ModuleOp kernels);

/// Records that kernels of the module have products of bf16 numbers.
void addBf16Products(mlir::ModuleOp kernels);

/// Returns the module's levels, replaced by their bases.
std::vector<Level> baseLevels(mlir::ModuleOp kernels);

/// Returns a function whose code differs between levels: declared as `name`, and defined once for each level
/// of `among` as variantName(name, level). A level without a variant uses that of its base. The function is
/// created at its first use. `body` fills a function without results. Everything else that its code depends
/// on must be part of its name.
mlir::func::FuncOp
functionWithVariants(KernelModule &kernels, llvm::StringRef name, mlir::TypeRange inputs,
                     llvm::ArrayRef<Level> among,
                     llvm::function_ref<void(mlir::OpBuilder &, mlir::func::FuncOp, const Level &)> body);
/// As above, among base levels.
mlir::func::FuncOp
functionWithVariants(KernelModule &kernels, llvm::StringRef name, mlir::TypeRange inputs,
                     llvm::function_ref<void(mlir::OpBuilder &, mlir::func::FuncOp, const Level &)> body);

std::string variantName(llvm::StringRef name, llvm::StringRef level);

} // namespace trainc::codegen
