// What each op of a block computes from which values, looking through broadcasts, reshapes, widening
// conversions and values that cost nothing to make again.
#pragma once

#include "dialects/NN/RepeatPattern.h"
#include "lib/Analysis/Preconditions.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace trainc {

/// Of a ranked tensor.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
inline int64_t countOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getNumElements();
}

/// Numbers of columns that an iteration space may have, in rising order; none listed: any.
using ColumnChoices = llvm::SmallVector<int64_t, 4>;

/// Keeps those of `choices` that `others` allow as well; false, and no change, if there are none.
bool restrictColumns(ColumnChoices &choices, llvm::ArrayRef<int64_t> others);

/// One value that an op's result depends on.
struct Read {
  mlir::Value value;
  /// How it is repeated over the op's positions.
  nn::RepeatPattern pattern;
  /// True for the table of a gather, which has no pattern.
  bool table = false;
};

enum class Completion {
  Immediate, ///< each result element is known within its row
  AllRows,   ///< a reduction over rows: known after the last row
  Total,     ///< a reduction over everything: as AllRows unless there is one short row
};

/// The loop nests that an op, or ops together, may have.
struct Space {
  /// Positions that are visited.
  int64_t count = 1;
  /// Trailing positions that make up a row.
  ColumnChoices columns;
  /// True if an op goes along columns: it cannot work on values of one element per row.
  bool alongColumns = false;
};

/// An op's loop nests and what it reads.
struct OpSpace : Space {
  Completion completion = Completion::Immediate;
  llvm::SmallVector<Read, 3> reads;
};

/// Classifies the ops of one block. Three kinds of op can stand in kernels:
///  * views (nn.broadcast, nn.reshape, and nn.convert to a type that holds all of a short type's numbers) and
///    free values (made from numbers and positions alone, or random ones): each kernel makes its own;
///  * computed ops (the rest): made once, in one kernel.
/// A view or free value that a library op reads, or that fits no consumer's space, is computed as well.
class ReadAnalysis {
public:
  /// `freeOps`: ops in the tree of a free value at most; larger ones are kept in memory.
  ReadAnalysis(mlir::Block &block, unsigned freeOps);

  /// True for ops that can stand in a kernel: elementwise, reduce, broadcast, reshape, gather.
  static bool isPrimitive(mlir::Operation *op);
  static bool isView(mlir::Operation *op);
  /// The value whose bytes `value` is: looks through reshapes.
  static mlir::Value stripReshapes(mlir::Value value);

  /// Ops made from scalars alone that are cheap to repeat.
  bool isFree(mlir::Operation *op) const { return freeCosts.contains(op); }
  /// Primitive ops that are made in exactly one kernel.
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
  unsigned mostFreeOps;
  llvm::DenseMap<mlir::Operation *, unsigned> freeCosts;
  llvm::DenseSet<mlir::Operation *> promoted;
  llvm::DenseMap<mlir::Operation *, OpSpace> spaces;
};

} // namespace trainc
