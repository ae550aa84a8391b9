// The order in which the ops of a block read and write states, and what of it must stay.
#pragma once

#include "dialects/Train/Train.h"

#include "llvm/ADT/MapVector.h"

#include <utility>

namespace trainc {

/// Whether two ops must keep their order for what they do beside their values: both access one state (or
/// another resource), and one of them writes it. What an op does to a value of its own, as a collective does,
/// SSA orders.
bool conflict(mlir::Operation *a, mlir::Operation *b);

/// Whether both access some of the same elements of a state.
bool meet(train::SetOp set, train::GetOp get);

/// Writes of states in a block, each with a number of the caller's, which grow.
class NumberedWrites {
public:
  void add(size_t number, train::SetOp set) { writes_[set.getStateAttr()].push_back({number, set}); }
  /// Behind the number of the last write below `end` of an element that `get` reads; 0 if there is none.
  size_t behindLast(size_t end, train::GetOp get) const;

private:
  llvm::DenseMap<mlir::Attribute, llvm::SmallVector<std::pair<size_t, train::SetOp>>> writes_;
};

/// By write of a state in the block: the next op that must stay behind it. Moves that keep all such orders
/// do not change what it is.
llvm::DenseMap<mlir::Operation *, mlir::Operation *> nextAccesses(mlir::Block &block);

/// The write whose value a read sees; null for what the entry began with.
train::SetOp writeSeenBy(train::GetOp get);

/// Whether `value` is bytes of the state, which a write would change.
bool liesIn(mlir::Value value, llvm::StringRef state);

/// Reads and writes of states in a block, as they stood when this was made.
class StateOrder {
public:
  explicit StateOrder(mlir::Block &block);

  /// In order; they live as long as this does.
  llvm::ArrayRef<train::GetOp> reads(llvm::StringRef state) const &;
  llvm::ArrayRef<train::SetOp> writes(llvm::StringRef state) const &;
  llvm::ArrayRef<train::GetOp> reads(llvm::StringRef state) const && = delete;
  llvm::ArrayRef<train::SetOp> writes(llvm::StringRef state) const && = delete;
  /// The first write of the state behind `op`; null if there is none.
  train::SetOp writeBehind(llvm::StringRef state, mlir::Operation *op) const;

  /// Pairs of ops whose order side effects fix. All uses of what a state held come before its next write as
  /// well, since the value lies where the write goes.
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>> pairs() const;

  /// Whether each read and write stands behind as many writes of its state as it did; an error at the first
  /// that has moved over one.
  llvm::LogicalResult requireKept() const;

private:
  using Numbers = llvm::MapVector<mlir::Operation *, int64_t>;
  static Numbers number(mlir::Block &block);

  mlir::Block &block;
  Numbers numbers;
  llvm::StringMap<llvm::SmallVector<train::GetOp>> gets;
  llvm::StringMap<llvm::SmallVector<train::SetOp>> sets;
};

/// Reorders the block so that values come before their uses and `fixed` pairs keep their order, each op as
/// near as possible to its present place. Present order must not be cyclic.
void sortBlock(mlir::Block &block, llvm::ArrayRef<std::pair<mlir::Operation *, mlir::Operation *>> fixed);

} // namespace trainc
