// Order in which the ops of a block read and write states.
#pragma once

#include "dialects/Train/Train.h"

#include "llvm/ADT/MapVector.h"

#include <utility>

namespace trainc {

/// Whether the side effects of two ops must keep their order: both access one state (or another resource),
/// and one of them writes it. Effects on an op's own values, such as those of collectives, are ordered by
/// SSA.
bool conflict(mlir::Operation *a, mlir::Operation *b);

/// Whether both ops access common elements of a state.
bool meet(train::SetOp set, train::GetOp get);

/// Numbered writes of states in a block; numbers ascend.
class NumberedWrites {
public:
  void add(size_t number, train::SetOp set) { writes_[set.getStateAttr()].push_back({number, set}); }
  /// Returns the number after that of the last write, below `end`, of an element that `get` reads; 0 if there
  /// is none.
  size_t afterLast(size_t end, train::GetOp get) const;

private:
  llvm::DenseMap<mlir::Attribute, llvm::SmallVector<std::pair<size_t, train::SetOp>>> writes_;
};

/// Maps each write of a state to the next op that must stay after it. Moves that keep the order of all such
/// pairs do not change the map.
llvm::DenseMap<mlir::Operation *, mlir::Operation *> nextAccesses(mlir::Block &block);

/// Returns the write that determines a read's value; null if it is the value at the entry's begin.
train::SetOp writeSeenBy(train::GetOp get);

/// Whether `value` shares bytes of the state, so that a write of the state would change it.
bool aliasesState(mlir::Value value, llvm::StringRef state);

/// Two ops of a block, of which the first must precede the second.
using OpPair = std::pair<mlir::Operation *, mlir::Operation *>;

/// Returns pairs of ops of a block whose order is fixed by side effects. They include all uses of a state's
/// value before the state's next write, because the value shares the state's memory.
llvm::SmallVector<OpPair> fixedPairs(mlir::Block &block);

/// Number of writes of its state before each read and write of a block, at construction.
class WritesBefore {
public:
  explicit WritesBefore(mlir::Block &block);

  /// Reports an error at the first read or write that does not follow as many writes of its state as at
  /// construction.
  llvm::LogicalResult requireKept() const;

private:
  mlir::Block &block_;
  llvm::MapVector<mlir::Operation *, int64_t> numbers_;
};

/// Reads and writes of states in a block, in their order at construction.
class StateOrder {
public:
  explicit StateOrder(mlir::Block &block);

  /// In program order. The returned arrays live as long as this object.
  llvm::ArrayRef<train::GetOp> reads(llvm::StringRef state) const &;
  llvm::ArrayRef<train::SetOp> writes(llvm::StringRef state) const &;
  llvm::ArrayRef<train::GetOp> reads(llvm::StringRef state) const && = delete;
  llvm::ArrayRef<train::SetOp> writes(llvm::StringRef state) const && = delete;
  /// Returns the first write of the state after `op`; null if there is none.
  train::SetOp writeAfter(llvm::StringRef state, mlir::Operation *op) const;

private:
  llvm::StringMap<llvm::SmallVector<train::GetOp>> gets;
  llvm::StringMap<llvm::SmallVector<train::SetOp>> sets;
};

/// Reorders the block so that values precede their uses and `fixed` pairs keep their order. Each op stays as
/// close as possible to its present position. The present order of the pairs must not be cyclic.
void sortBlock(mlir::Block &block, llvm::ArrayRef<OpPair> fixed);

} // namespace trainc
