// Reference interpreter: runs tensor ops one by one in float64, as a direct transcription of their
// definitions.
//
// It shares no code with the compiler's kernels, decompositions and gradients, which it verifies.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Reference/Tensor.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <map>
#include <string>

namespace trainc::reference {

struct EntryMemory;

/// Values that have been computed while a block runs.
class Frame {
public:
  explicit Frame(EntryMemory *memory) : memory_(memory) {}

  /// Returns the value of an operand of the op being run.
  const Tensor &operator[](mlir::Value value) const { return values_.find(value)->second; }
  void define(mlir::Value value, Tensor tensor) { values_.insert_or_assign(value, std::move(tensor)); }
  /// Returns state and inputs of an entry; null outside entries.
  EntryMemory *memory() { return memory_; }

  /// Sets the function that `rounded` applies, to find out how rounding of intermediate numbers affects
  /// results.
  void setRounding(std::function<double(double)> rounding) { rounding_ = std::move(rounding); }
  /// Returns an intermediate number that an op subtracts from close numbers; unchanged unless setRounding()
  /// was called.
  double rounded(double number) const { return rounding_ ? rounding_(number) : number; }

private:
  std::function<double(double)> rounding_;
  EntryMemory *memory_;
  llvm::DenseMap<mlir::Value, Tensor> values_;
};

/// Runs one op and returns its results; the frame is not changed. Errors are as for runBlock.
mlir::FailureOr<Tensors> runOp(mlir::Operation &op, Frame &frame);

/// Runs one op and defines its results in `frame`.
llvm::LogicalResult runAndDefine(mlir::Operation &op, Frame &frame);

/// Runs the ops of `block` on `arguments` (one per block argument) and returns the operands of its
/// terminator, or nothing without a terminator. Unregistered and failing ops are reported at the op.
mlir::FailureOr<Tensors> runBlock(mlir::Block &block, Tensors arguments, EntryMemory *memory = nullptr);

using NamedTensors = std::map<std::string, Tensor, std::less<>>;

/// Values that persist across entries, and inputs that the runtime would fill before an entry.
struct EntryMemory {
  /// train.state by name. All states of a module exist from the start, as zeros.
  NamedTensors states;
  /// Batch columns of extent `micro` and `step`.
  NamedTensors microColumns, stepColumns;
  /// Gradients of train.gradient, summed per parameter.
  NamedTensors gradients;

  /// Creates zeros for every train.state of `module`.
  explicit EntryMemory(mlir::ModuleOp module);
};

/// Runs the module's entry of that kind. Errors (no such entry, a missing column, a column or value of
/// another type or beyond its limit) are reported at the op.
llvm::LogicalResult runEntry(mlir::ModuleOp module, EntryKind kind, EntryMemory &memory);

} // namespace trainc::reference
