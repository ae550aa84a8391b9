// What each op of a block computes from which values, looking through broadcasts, reshapes and values that
// cost nothing to make again.
#pragma once

#include "lib/Fusion/Pattern.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace trainc {

/// One value that an op's result depends on.
struct Read {
  /// Null where the operand is made from scalars alone; the pattern still restricts the iteration space.
  mlir::Value value;
  /// How it is repeated over the op's positions.
  RepeatPattern pattern;
  /// True for the table of a gather, which has no pattern.
  bool table = false;
};

enum class Completion {
  Immediate, ///< each result element is known within its row
  AllRows,   ///< a reduction over rows: known after the last row
  Total,     ///< a reduction over everything: as AllRows unless there is one short row
};

/// An op's loop nest.
struct OpSpace {
  /// Positions that the op visits.
  int64_t count = 1;
  /// Trailing positions that make up a row: exactly so many, or any divisor of it; 0: no restriction.
  int64_t columns = 0;
  bool exact = false;
  Completion completion = Completion::Immediate;
  llvm::SmallVector<Read, 3> reads;
};

/// Classifies the ops of one block. Three kinds of op can stand in kernels:
///  * views (nn.broadcast, nn.reshape) and free values (made from numbers and positions alone, or random
///  numbers):
///    each kernel makes its own;
///  * computed ops (the rest): made once, in one kernel.
/// A view or free value that a library op reads, or that fits no consumer's space, is computed as well.
class ReadAnalysis {
public:
  explicit ReadAnalysis(mlir::Block &block);

  /// True for ops that can stand in a kernel: elementwise, reduce, broadcast, reshape, gather.
  static bool isPrimitive(mlir::Operation *op);
  static bool isView(mlir::Operation *op);
  /// True for nn.constant 0, which needs no kernel.
  static bool isZero(mlir::Operation *op);
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
  void collect(mlir::Value value, const RepeatPattern &pattern, llvm::SmallVectorImpl<Read> &reads);
  void addOperand(OpSpace &space, mlir::Value operand, const RepeatPattern &pattern);
  void promote(mlir::Value value);
  bool isRepeatable(mlir::Operation *op, const RepeatPattern &pattern) const;

  mlir::Block &block;
  llvm::DenseMap<mlir::Operation *, unsigned> freeCosts;
  llvm::DenseSet<mlir::Operation *> promoted;
  llvm::DenseMap<mlir::Operation *, OpSpace> spaces;
};

/// Joins two restrictions on the columns of one space (see OpSpace); false if they exclude each other.
bool joinColumns(int64_t &columns, bool &exact, int64_t otherColumns, bool otherExact);

} // namespace trainc
