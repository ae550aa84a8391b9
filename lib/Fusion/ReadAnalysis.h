// For each op of a block, the values that it reads through broadcasts, reshapes, widening conversions and
// values that are free to recompute.
#pragma once

#include "dialects/NN/RepeatPattern.h"
#include "lib/Analysis/Preconditions.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace trainc {

/// Return shape and number of elements of a ranked tensor.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
inline int64_t countOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getNumElements();
}

/// Valid numbers of columns of an iteration space, ascending; empty: any.
using ColumnChoices = llvm::SmallVector<int64_t, 4>;

/// Removes the choices that are not in `others`. Returns false and changes nothing if none would be left.
bool restrictColumns(ColumnChoices &choices, llvm::ArrayRef<int64_t> others);

/// One value that an op's result depends on.
struct Read {
  mlir::Value value;
  /// Repetition over the op's positions.
  nn::RepeatPattern pattern;
  /// Whether the value is the table of a gather, which has no pattern.
  bool table = false;
};

enum class Completion {
  Immediate, ///< each result element is complete after its row
  AllRows,   ///< reduction over rows: complete after the last row
  Total,     ///< reduction over all elements: like AllRows, unless there is one short row
};

/// Possible loop nests of one or several ops.
struct Space {
  /// Number of positions that are visited.
  int64_t count = 1;
  /// Valid numbers of trailing positions that form a row.
  ColumnChoices columns;
  /// Whether an op runs along columns, so that it cannot be applied to one element per row.
  bool alongColumns = false;
};

/// Possible loop nests of an op, and the values that it reads.
struct OpSpace : Space {
  Completion completion = Completion::Immediate;
  llvm::SmallVector<Read, 3> reads;
};

/// Classifies the ops of one block. Kernels consist of three kinds of ops:
///  * views (isReadThrough(): nn.broadcast, nn.reshape, and nn.convert to a wider type) and free values
///  (computed from constants and positions alone, or random numbers): each kernel recomputes its own;
///  * computed ops (all others): computed once, in one kernel.
/// A view or free value is computed as well if a library op reads it, or if it does not fit a consumer's
/// space.
class ReadAnalysis {
public:
  /// `freeOps` is the maximum number of ops of a free value; larger ones are kept in memory.
  ReadAnalysis(mlir::Block &block, unsigned freeOps);

  /// Whether a kernel can contain the op: elementwise, reduce, broadcast, reshape or gather.
  static bool isPrimitive(mlir::Operation *op);
  /// Follows reshapes back from `value` and returns the value that they reshape, which has the same bytes.
  static mlir::Value stripReshapes(mlir::Value value);

  /// Whether the op is computed from scalars alone and cheap to recompute.
  bool isFree(mlir::Operation *op) const { return freeCosts.contains(op); }
  /// Whether the op is computed in exactly one kernel.
  bool isComputed(mlir::Operation *op) const { return spaces.contains(op); }
  const OpSpace &space(mlir::Operation *op) const { return spaces.find(op)->second; }

private:
  void findFree(mlir::Operation *op);
  void analyzeComputed(mlir::Operation *op);
  void analyzeOther(mlir::Operation *op);
  bool collect(mlir::Value value, const nn::RepeatPattern &pattern, OpSpace &space);
  bool collectRepeated(mlir::Value source, mlir::Value repeated, const nn::RepeatPattern &outer,
                       const nn::RepeatPattern &pattern, OpSpace &space);
  void addOperand(OpSpace &space, mlir::Value operand, const nn::RepeatPattern &pattern);
  void promote(mlir::Value value);
  bool isRepeatable(mlir::Operation *op, const nn::RepeatPattern &pattern) const;

  mlir::Block &block;
  unsigned maxFreeOps;
  llvm::DenseMap<mlir::Operation *, unsigned> freeCosts;
  llvm::DenseSet<mlir::Operation *> promoted;
  llvm::DenseMap<mlir::Operation *, OpSpace> spaces;
};

} // namespace trainc
