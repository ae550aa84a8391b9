// The reference interpreter: runs tensor ops one by one in float64, as slowly and plainly as their
// definitions read.
//
// It shares no code with what it checks: the compiler's generated kernels, decompositions and gradients.
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

/// The values known while a block runs.
class Frame {
public:
  explicit Frame(EntryMemory *memory) : memory_(memory) {}

  /// The value of an operand of the op being run.
  const Tensor &operator[](mlir::Value value) const { return values_.find(value)->second; }
  void define(mlir::Value value, Tensor tensor) { values_.insert_or_assign(value, std::move(tensor)); }
  /// State and inputs of an entry; null outside entries.
  EntryMemory *memory() { return memory_; }

  /// Sets what `rounded` gives, to see what it does to results if numbers on the way to them are rounded.
  void setRounding(std::function<double(double)> rounding) { rounding_ = std::move(rounding); }
  /// A number on the way to a result, in an op that goes on to subtract it from numbers near it: itself,
  /// unless somebody set something else.
  double rounded(double number) const { return rounding_ ? rounding_(number) : number; }

private:
  std::function<double(double)> rounding_;
  EntryMemory *memory_;
  llvm::DenseMap<mlir::Value, Tensor> values_;
};

/// Runs one op and returns its results; the frame is only read. Errors as for runBlock.
mlir::FailureOr<Tensors> runOp(mlir::Operation &op, Frame &frame);

/// Runs one op and defines its results in `frame`.
llvm::LogicalResult runAndDefine(mlir::Operation &op, Frame &frame);

/// Runs the ops of `block` on `arguments` (one per block argument) and returns the operands of its
/// terminator, or nothing where it has none. Ops without a function in the registry and failing ops are
/// reported at the op.
mlir::FailureOr<Tensors> runBlock(mlir::Block &block, Tensors arguments, EntryMemory *memory = nullptr);

using NamedTensors = std::map<std::string, Tensor, std::less<>>;

/// What lives across entries, and what the runtime would put in before one.
struct EntryMemory {
  /// train.state by name. All states of a module exist from the start, as zeros.
  NamedTensors states;
  /// Batch columns of extent `micro` and `step`.
  NamedTensors microColumns, stepColumns;
  /// What train.gradient gave, summed per parameter.
  NamedTensors gradients;

  /// Zeros for every train.state of `module`.
  explicit EntryMemory(mlir::ModuleOp module);
};

/// Runs the module's entry of that kind. Errors (no such entry, a missing column, a column or value of
/// another type or beyond its limit) are reported at the op.
llvm::LogicalResult runEntry(mlir::ModuleOp module, EntryKind kind, EntryMemory &memory);

} // namespace trainc::reference
