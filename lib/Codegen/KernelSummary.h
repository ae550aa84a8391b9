// Summary of an op's kernels without code, for memory planning and cost models.
#pragma once

#include "dialects/Plan/Plan.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace trainc::codegen {

/// One argument of a launch.
struct KernelParam {
  enum class Source {
    Operand, ///< operand `index` of the op
    Result,  ///< result `index` of the op; if the result updates an operand in place, that operand's buffer
    Scratch  ///< KernelSummary::scratchBytes[index]
  };
  Source source;
  unsigned index;
  plan::Access access;
  /// Element type in memory; i1 values are stored as bytes 0 and 1.
  mlir::Type element;
  /// Maximum number of bytes that the kernel accesses, from the start of the buffer.
  int64_t bytes;
};

/// One launch of a kernel over `grid` independent blocks; plan.fbs (Kernel) specifies the calling convention.
struct LaunchSummary {
  std::string name; ///< prefix of the kernel's symbol
  int64_t grid;
  llvm::SmallVector<KernelParam> params;
  int64_t flops = 0;      ///< floating-point operations; 0 if unknown
  int64_t arithmetic = 0; ///< scalar instructions besides `flops`
  /// Bytes between memory and processor, if not each parameter once.
  std::optional<int64_t> movedBytes = std::nullopt;
  int64_t chain = 0;       ///< maximum length of a chain of dependent memory accesses
  int64_t sharedBytes = 0; ///< bytes of a block's own memory
  int64_t threads = 1;     ///< threads per block on a GPU; a CPU runs a block on one thread
  /// Minimum blocks per GPU multiprocessor, which limits registers per thread; it must not cause spills. 0:
  /// the assembler chooses.
  int64_t minBlocks = 0;
};

/// An instruction that executes an op by a library of the device.
struct LibraryCall {
  llvm::StringRef instruction; ///< name of an op of the plan dialect
  /// Operands by name. Of each parameter only source and index are used.
  llvm::SmallVector<std::pair<llvm::StringRef, KernelParam>> operands;
  mlir::NamedAttrList sizes; ///< other attributes of the instruction
};

/// The launches that execute an op, each after the previous one; or a library call.
struct KernelSummary {
  llvm::SmallVector<LaunchSummary> launches;
  std::optional<LibraryCall> library = std::nullopt;
  /// Sizes of buffers that live from the first to the last launch, or size of the library call's workspace.
  /// Initial contents are undefined.
  llvm::SmallVector<int64_t> scratchBytes;
  /// Pairs (operand, result) that may share one buffer, because the kernel reads every element of the operand
  /// before it writes that of the result. A result may replace one operand only.
  llvm::SmallVector<std::pair<unsigned, unsigned>> mayAlias;
};

/// Symbols of a summary's launches.
using Symbols = llvm::SmallVector<std::string>;

/// Returns the kind of the op's kernels; none for ops of entries without generated code.
std::optional<plan::KernelKind> kernelKind(mlir::Operation *op);

/// Declares the kernel of one of the summary's launches, named `symbol`, at the builder's position.
plan::KernelOp declareKernel(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef symbol,
                             plan::KernelKind kind, const KernelSummary &summary,
                             const LaunchSummary &launch);

/// Returns the number of an argument of `op` in plan.launch_spec: operands, then results, then scratch
/// buffers.
int64_t argumentNumber(mlir::Operation *op, const KernelParam &param);

/// Returns the library call of `op`, with its operands as argument numbers.
plan::LibraryCallSpecAttr specOf(mlir::Operation *op, const LibraryCall &call);

/// Returns the bytes of all parameters, once each.
int64_t paramBytes(const LaunchSummary &launch);

/// Returns the number of elements of a static tensor.
int64_t elementCount(mlir::Value tensor);

/// Return a parameter that covers a whole tensor or scratch buffer.
KernelParam operandParam(mlir::Operation *op, unsigned index);
KernelParam resultParam(mlir::Operation *op, unsigned index, plan::Access access = plan::Access::write);
KernelParam scratchParam(const KernelSummary &kernels, unsigned index, plan::Access access,
                         mlir::Type element);

} // namespace trainc::codegen
