// Frame of every kernel: arguments, clamping, the loop over tiles, and its name.
#pragma once

#include "lib/Codegen/KernelModule.h"
#include "lib/Codegen/KernelSummary.h"
#include "lib/Codegen/Kernels/Emitter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace trainc::codegen {

/// A kernel under construction: the code of one launch of a summary. tiles() builds the body, and finish()
/// names the kernel by its content.
///
/// plan.fbs (Kernel) specifies the calling convention. A CPU's blocks have one thread, and its kernels run
/// ranges of tiles. A GPU's blocks have several threads; each block runs the tile of its number, and all its
/// threads run the same code.
class KernelFunction {
public:
  KernelFunction(KernelModule &kernels, const LaunchSummary &launch);

  /// Return the pointer to an operand or result of the op, or to a scratch buffer. It must be an argument of
  /// the launch.
  mlir::Value operand(unsigned index) { return argument(KernelParam::Source::Operand, index); }
  mlir::Value result(unsigned index) { return argument(KernelParam::Source::Result, index); }
  mlir::Value scratch(unsigned index) { return argument(KernelParam::Source::Scratch, index); }

  /// Returns the number of a random stream. It is an argument, so that all streams share the code.
  mlir::Value stream(int64_t number);

  KernelModule &module() { return kernels; }
  Emitter &emit() { return emitter; }
  mlir::OpBuilder &builder() { return opBuilder; }

  /// Allocates `count` elements on the stack, 64-byte aligned; for small arrays that almost fit registers.
  mlir::Value stackArray(mlir::Type element, int64_t count);

  /// Allocates `count` elements of the block's own memory, 64-byte aligned. All arrays together have the
  /// launch's sharedBytes.
  mlir::Value blockArray(mlir::Type element, int64_t count);

  /// Builds the code of a tile and, for a CPU, the loop over the tiles [begin, min(end, grid)).
  void tiles(llvm::function_ref<void(mlir::Value tile)> body);
  /// Builds the code of the tiles [begin, end) of a CPU's kernel. A range after the grid is empty.
  void tileRange(llvm::function_ref<void(mlir::Value begin, mlir::Value end)> body);

  /// Number of threads per block.
  int64_t threads() const { return launch.threads; }
  /// Returns this thread's number in the block, i64; a constant if the block has one thread.
  mlir::Value thread();
  /// Synchronises all threads of the block, including their writes.
  void barrier();
  /// Synchronises, and then runs `body` on one thread.
  void once(llvm::function_ref<void()> body);

  /// Names the function by its content and returns its symbol. Drops the function if the module already has
  /// that kernel.
  std::string finish();

private:
  bool isOfThreads() const { return launch.threads > 1; }
  void takeArgumentsOfTiles();
  void takeArgumentsOfThreads();
  void createFunction(llvm::ArrayRef<mlir::Type> inputs);
  mlir::Value addressOfBlockMemory();
  mlir::Value widened(mlir::Value number);
  void noteEntry(mlir::func::FuncOp entry);
  mlir::Value argument(KernelParam::Source source, unsigned index);
  /// Renames `made` by its content, or drops it if an equal kernel exists. Kernels with equal code but
  /// different operand sizes or types (such as bf16 and f16) are different, because a plan states sizes and
  /// types of a kernel's operands.
  std::string nameByContent(mlir::func::FuncOp made, llvm::StringRef prefix,
                            llvm::ArrayRef<KernelParam> launched);

  KernelModule &kernels;
  const LaunchSummary &launch;
  mlir::OpBuilder opBuilder;
  Emitter emitter;
  mlir::func::FuncOp function;
  int64_t blockBytes = 0;                   ///< allocated so far
  unsigned ownArguments = 0;                ///< arguments of the function before `streams`
  llvm::SmallVector<mlir::Value> arguments; ///< in the order of the launch's parameters
  mlir::Value ownThread, blockMemory;
  llvm::SmallVector<int64_t> streams; ///< stream numbers that are passed after the kernel's own arguments
};

/// Attribute of a kernel function for blocks of several threads: number of threads per block.
inline constexpr llvm::StringLiteral kThreadsAttr = "plan.threads";
/// Attribute of a kernel function whose launch has minBlocks: that number.
inline constexpr llvm::StringLiteral kMinBlocksAttr = "plan.min_blocks";

/// Alignment of every block's own memory and of every array in it, in bytes.
inline constexpr int64_t kBlockArrayAlignment = 64;

/// Returns the bytes that KernelFunction::blockArray() allocates.
int64_t blockArrayBytes(mlir::Type element, int64_t count);

/// Returns the argument types of a function: pointers, then i64s.
llvm::SmallVector<mlir::Type> argumentTypes(mlir::MLIRContext *context, unsigned pointers, unsigned integers);

/// Returns the name of an internal function that depends on an element type.
std::string typedName(llvm::StringRef name, mlir::Type element);

/// Returns a private function that kernels call, without results. It is created at its first use; `body`
/// fills it. Everything that its code depends on must be part of its name.
mlir::func::FuncOp internalFunction(KernelModule &kernels, llvm::StringRef name, mlir::TypeRange inputs,
                                    llvm::function_ref<void(Emitter &, mlir::func::FuncOp)> body);

/// Makes a function invisible outside its object.
void makeInternal(mlir::func::FuncOp function);

} // namespace trainc::codegen
