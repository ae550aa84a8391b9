// CPU code for the ops of the phase `scheduled`: kernels, and the objects that hold their machine code.
#pragma once

#include "lib/Codegen/Fp32Products.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace trainc::codegen {

/// How a kernel uses a buffer.
enum class Access { Read, Write, ReadWrite };

/// One argument of a launch.
struct KernelParam {
  enum class Source {
    Operand, ///< the op's operand `index`
    Result,  ///< the op's result `index`; for results that update an operand in place, that buffer
    Scratch  ///< GeneratedKernels::scratchBytes[index]
  };
  Source source;
  unsigned index;
  Access access;
  /// Element type in memory: i1 values are stored as bytes 0 and 1.
  mlir::Type element;
  /// How much of the buffer the kernel may touch, from its start.
  int64_t bytes;
};

/// One launch of a kernel: `void symbol(void *const *args, int64_t begin, int64_t end)` runs tiles [begin,
/// end) of `grid`. Tiles are independent.
struct KernelLaunch {
  std::string symbol;
  int64_t grid;
  llvm::SmallVector<KernelParam> params;
  int64_t flops = 0; ///< 0 where unknown
};

/// The launches that execute an op, in order: each waits for the one before.
struct GeneratedKernels {
  llvm::SmallVector<KernelLaunch> launches;
  /// Buffers that live from the first to the last of the launches; their contents do not matter before.
  llvm::SmallVector<int64_t> scratchBytes;
  /// Pairs (operand, result) that may be one buffer: the kernel reads every element of the operand before it
  /// writes that of the result. A result may take the place of one operand only.
  llvm::SmallVector<std::pair<unsigned, unsigned>> mayAlias;
};

/// Generates the kernels of `op`, an op with ExecutableOpInterface of class Rows, StridedCopy, Scatter,
/// Gemm, Attention or AttentionGrad, into the module `kernels`, where equal kernels exist once. Emits an
/// error at the op where it cannot be executed.
llvm::FailureOr<GeneratedKernels> generate(mlir::Operation *op, mlir::ModuleOp kernels);

/// Machine code for one instruction-set level; fields as in the plan's Object.
struct Object {
  std::string level;
  std::vector<std::string> features;
  std::string image; ///< ELF shared object without dependencies
};

/// Compiles all kernels for every level that suits them (Levels.h). `kernels` is lowered to the LLVM dialect
/// on the way.
llvm::FailureOr<std::vector<Object>> compileObjects(mlir::ModuleOp kernels);

/// A module to generate kernels into, with the dialects that generate() and compileObjects() need loaded.
mlir::OwningOpRef<mlir::ModuleOp> createKernelModule(mlir::MLIRContext &context,
                                                     Fp32Products products = Fp32Products::Fma);

/// How the kernels of a module compute products of f32 numbers.
Fp32Products fp32Products(mlir::ModuleOp kernels);

} // namespace trainc::codegen
