// Positions of an entry's ops in execution order, and how long values are in use.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Analysis/StateOrder.h"

#include "llvm/ADT/DenseMap.h"

namespace trainc {

/// Numbers the ops of an entry, those of loop bodies included (not those inside kernels), in execution order.
class Timeline {
public:
  explicit Timeline(train::EntryOp entry);

  /// Position of an op; of a loop: before its body.
  int64_t begin(mlir::Operation *op) const { return positions_.lookup(op).first; }
  /// Position of an op; of a loop: after its body; of a store: of the last op beside it (kBesideAttr).
  int64_t end(mlir::Operation *op) const { return positions_.lookup(op).second; }

  /// From where on the copy of a read should run beside the others, if memory has room (kAheadAttr), behind
  /// what writes the same elements; else its own position.
  int64_t earliest(train::GetOp get) const;
  /// The last position of the first ops of the entry, of at least one.
  int64_t endOfFirst(int64_t ops) const {
    return end(ops_[std::clamp<int64_t>(ops, 1, int64_t(ops_.size())) - 1]);
  }
  /// The first op of the entry from a position on that does not move, as reads do that should begin earlier.
  mlir::Operation *opFrom(int64_t position) const;

  /// Whether the value is on its way out of the device's memory while `op` runs.
  bool isStoredBeside(mlir::Operation *op, mlir::Value value) const;

  /// Last position at which `value`, or a value that aliases it, is read; a collective reads until it is
  /// waited for. A value from outside a loop that the loop reads is in use until the loop ends. The
  /// definition's position if it is never read. The collective `reader`, if given, counts as if it read at
  /// its start alone.
  int64_t lastUse(mlir::Value value, mlir::Operation *reader = nullptr) const;

private:
  void number(mlir::Block &block);
  int64_t findLastUse(mlir::Value value, mlir::Operation *reader) const;

  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>> positions_;
  llvm::SmallVector<mlir::Operation *> ops_;       ///< of the entry itself
  NumberedWrites writes_;                          ///< by their indices in ops_
  llvm::DenseMap<mlir::Operation *, size_t> gets_; ///< indices in ops_ of those with kAheadAttr
  /// Of values that were asked for. Some have as many readers as the entry has ops, and each of those asks.
  mutable llvm::DenseMap<mlir::Value, int64_t> lastUses_;
  int64_t next_ = 0;
};

/// True for ops whose result is bytes of operand 0.
bool isAlias(mlir::Operation *op);
/// True for ops that begin a collective.
bool isCollective(mlir::Operation *op);
/// True for counted loops.
bool isLoop(mlir::Operation *op);

} // namespace trainc
