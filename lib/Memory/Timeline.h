// Positions of an entry's ops in execution order, and lifetimes of values.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Analysis/StateOrder.h"

#include "llvm/ADT/DenseMap.h"

namespace trainc {

/// Numbers the ops of an entry in execution order, including those of loop bodies but not those inside
/// kernels.
class Timeline {
public:
  explicit Timeline(train::EntryOp entry);

  /// Position at which an op begins; a loop begins before its body.
  int64_t begin(mlir::Operation *op) const { return positions_.lookup(op).first; }
  /// Position at which an op ends. A loop ends after its body. A store ends at the last op that overlaps with
  /// it (kBesideAttr).
  int64_t end(mlir::Operation *op) const { return positions_.lookup(op).second; }

  /// Position from which the copy of a read should run if memory allows (kAheadAttr), but after writes of the
  /// same elements; its own position without kAheadAttr.
  int64_t earliest(train::GetOp get) const;
  /// Returns the end of the last of the entry's first `ops` ops; of the first op if `ops` is 0.
  int64_t endOfFirst(int64_t ops) const {
    return end(ops_[std::clamp<int64_t>(ops, 1, int64_t(ops_.size())) - 1]);
  }
  /// Returns the first op of the entry at or after a position. Skips reads with kAheadAttr, because they
  /// move.
  mlir::Operation *opFrom(int64_t position) const;

  /// Whether a store of the value is in flight while `op` runs.
  bool isStoredBeside(mlir::Operation *op, mlir::Value value) const;

  /// Returns the last position at which `value`, or a value that aliases it, is read; the definition's
  /// position if it is never read. A collective reads until its wait. A value that a loop reads from outside
  /// is in use until the loop ends. The collective `reader`, if given, counts as a reader at its start only.
  int64_t lastUse(mlir::Value value, mlir::Operation *reader = nullptr) const;

private:
  void number(mlir::Block &block);
  int64_t findLastUse(mlir::Value value, mlir::Operation *reader) const;

  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>> positions_;
  llvm::SmallVector<mlir::Operation *> ops_;       ///< of the entry itself
  NumberedWrites writes_;                          ///< by their indices in ops_
  llvm::DenseMap<mlir::Operation *, size_t> gets_; ///< indices in ops_ of reads with kAheadAttr
  /// Cache. Some values have as many readers as the entry has ops, and each reader asks.
  mutable llvm::DenseMap<mlir::Value, int64_t> lastUses_;
  int64_t next_ = 0;
};

/// Whether the op's result shares bytes of operand 0.
bool isAlias(mlir::Operation *op);
/// Whether the op starts a collective.
bool isCollective(mlir::Operation *op);
/// Whether the op is a counted loop.
bool isLoop(mlir::Operation *op);

} // namespace trainc
