// The frame of every kernel: arguments, clamping, the loop over tiles, and its name.
#pragma once

#include "lib/Codegen/KernelModule.h"
#include "lib/Codegen/KernelSummary.h"
#include "lib/Codegen/Kernels/Emitter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace trainc::codegen {

/// A kernel under construction: the code of one launch of a summary. tiles() builds the body, and finish()
/// names it by its content.
///
/// plan.fbs (Kernel) says how kernels are called. Blocks of one thread are a CPU's, whose kernels run ranges
/// of tiles. Blocks of several are a GPU's: each runs the tile of its number, and all its threads the same
/// code.
class KernelFunction {
public:
  KernelFunction(KernelModule &kernels, const LaunchSummary &launch);

  /// The pointer to an operand of the op, one of its results, or a scratch buffer, which the launch must have
  /// as an argument.
  mlir::Value operand(unsigned index) { return argument(KernelParam::Source::Operand, index); }
  mlir::Value result(unsigned index) { return argument(KernelParam::Source::Result, index); }
  mlir::Value scratch(unsigned index) { return argument(KernelParam::Source::Scratch, index); }

  /// The number of a stream of random numbers. It is an argument of the code, which all streams share.
  mlir::Value stream(int64_t number);

  KernelModule &module() { return kernels; }
  Emitter &emit() { return emitter; }
  mlir::OpBuilder &builder() { return opBuilder; }

  /// `count` elements on the stack, 64-byte aligned; for what registers could almost hold.
  mlir::Value stackArray(mlir::Type element, int64_t count);

  /// `count` elements of the block's own memory, likewise. All of them together take the launch's
  /// sharedBytes.
  mlir::Value blockArray(mlir::Type element, int64_t count);

  /// Builds the code of a tile, and a CPU's loop over the tiles [begin, min(end, grid)).
  void tiles(llvm::function_ref<void(mlir::Value tile)> body);

  /// Of the block.
  int64_t threads() const { return launch.threads; }
  /// This thread's number in the block, i64; a constant if there is one.
  mlir::Value thread();
  /// All threads of the block have come here, and see what each has written.
  void barrier();
  /// Has one thread run `body`, when all have come here.
  void once(llvm::function_ref<void()> body);

  /// Names the function by its content and returns its symbol. Where the module already has that kernel, this
  /// one is dropped.
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
  /// Renames `made` by its content, or drops it for the equal one that exists. Equal code for operands of
  /// other sizes, or for bf16 in place of f16, is another kernel, as a plan says how much
  /// of its operands a kernel may touch, and their types.
  std::string nameByContent(mlir::func::FuncOp made, llvm::StringRef prefix,
                            llvm::ArrayRef<KernelParam> launched);

  KernelModule &kernels;
  const LaunchSummary &launch;
  mlir::OpBuilder opBuilder;
  Emitter emitter;
  mlir::func::FuncOp function;
  int64_t blockBytes = 0;                   ///< taken so far
  unsigned ownArguments = 0;                ///< of the function, before `streams`
  llvm::SmallVector<mlir::Value> arguments; ///< in the order of the launch's
  mlir::Value ownThread, blockMemory;
  llvm::SmallVector<int64_t> streams; ///< what the arguments behind the kernel's own are called with
};

/// On the function of a kernel for blocks of several threads: how many there are.
inline constexpr llvm::StringLiteral kThreadsAttr = "plan.threads";
/// Beside it, if the launch has leastBlocks: how many.
inline constexpr llvm::StringLiteral kLeastBlocksAttr = "plan.least_blocks";

/// Every block's own memory begins on such a border, and so does every array in it.
inline constexpr int64_t kBlockArrayAlignment = 64;

/// Bytes that KernelFunction::blockArray() takes.
int64_t blockArrayBytes(mlir::Type element, int64_t count);

/// Types of a function's arguments: pointers, then i64s.
llvm::SmallVector<mlir::Type> argumentTypes(mlir::MLIRContext *context, unsigned pointers, unsigned integers);

/// The name of an internal function that depends on an element type as well.
std::string typedName(llvm::StringRef name, mlir::Type element);

/// A private function that kernels call, made at its first use: `body` fills it. It has no results. Whatever
/// its code depends on is part of its name.
mlir::func::FuncOp internalFunction(KernelModule &kernels, llvm::StringRef name, mlir::TypeRange inputs,
                                    llvm::function_ref<void(Emitter &, mlir::func::FuncOp)> body);

/// Hides a function that kernels call from the outside of their object.
void makeInternal(mlir::func::FuncOp function);

} // namespace trainc::codegen
