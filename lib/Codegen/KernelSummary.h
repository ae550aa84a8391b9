// What is known of an op's kernels before there is code: memory planning and cost models need no more.
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
    Operand, ///< the op's operand `index`
    Result,  ///< the op's result `index`; for results that update an operand in place, that buffer
    Scratch  ///< KernelSummary::scratchBytes[index]
  };
  Source source;
  unsigned index;
  plan::Access access;
  /// Element type in memory: i1 values are stored as bytes 0 and 1.
  mlir::Type element;
  /// How much of the buffer the kernel may touch, from its start.
  int64_t bytes;
};

/// One launch of a kernel over the blocks of `grid`, which are independent; plan.fbs (Kernel) says how a
/// device calls it.
struct LaunchSummary {
  std::string name; ///< what the kernel's symbol begins with
  int64_t grid;
  llvm::SmallVector<KernelParam> params;
  int64_t flops = 0;      ///< 0 where unknown
  int64_t arithmetic = 0; ///< instructions on single numbers, besides those
  /// Between memory and processor, where that is not each parameter once.
  std::optional<int64_t> movedBytes = std::nullopt;
  int64_t chain = 0;       ///< accesses to memory at most that wait for one another
  int64_t sharedBytes = 0; ///< memory of a block's own
  int64_t threads = 1;     ///< of a block on a GPU; a CPU runs a block on one thread
  /// Blocks that a GPU's multiprocessor has registers for, at least: its assembler spills none so that more
  /// fit. 0: as the assembler chooses.
  int64_t leastBlocks = 0;
};

/// An instruction that leaves an op to a library of the device.
struct LibraryCall {
  llvm::StringRef instruction; ///< an op of the dialect plan
  /// Its operands by their names; of each the source and the index alone count.
  llvm::SmallVector<std::pair<llvm::StringRef, KernelParam>> operands;
  mlir::NamedAttrList sizes; ///< its other attributes
};

/// The launches that execute an op, in order, each of which waits for the one before; or a library call.
struct KernelSummary {
  llvm::SmallVector<LaunchSummary> launches;
  std::optional<LibraryCall> library = std::nullopt;
  /// Buffers that live from the first to the last of the launches, or the workspace of the library call;
  /// their contents do not matter before.
  llvm::SmallVector<int64_t> scratchBytes;
  /// Pairs (operand, result) that may be one buffer: the kernel reads every element of the operand before it
  /// writes that of the result. A result may take the place of one operand only.
  llvm::SmallVector<std::pair<unsigned, unsigned>> mayAlias;
};

/// What the kernels of `op` compute; nothing for ops of entries that run no generated code.
std::optional<plan::KernelKind> kernelKind(mlir::Operation *op);

/// The kernel of one of the summary's launches, named `symbol`, where the builder stands.
plan::KernelOp declareKernel(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef symbol,
                             plan::KernelKind kind, const KernelSummary &summary,
                             const LaunchSummary &launch);

/// Position of an argument of `op` in the numbering of plan.launch_spec: operands, results, scratch.
int64_t argumentNumber(mlir::Operation *op, const KernelParam &param);

/// The library call of `op` with its operands as numbers of arguments.
plan::LibraryCallSpecAttr specOf(mlir::Operation *op, const LibraryCall &call);

/// Of all parameters once.
int64_t paramBytes(const LaunchSummary &launch);

/// Elements of a static tensor.
int64_t elementCount(mlir::Value tensor);

/// A parameter that is all of a tensor, or of a scratch buffer.
KernelParam operandParam(mlir::Operation *op, unsigned index);
KernelParam resultParam(mlir::Operation *op, unsigned index, plan::Access access = plan::Access::write);
KernelParam scratchParam(const KernelSummary &kernels, unsigned index, plan::Access access,
                         mlir::Type element);

} // namespace trainc::codegen
