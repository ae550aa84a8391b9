// The storages of an entry's values, before addresses are known.
#pragma once

#include "lib/Analysis/StateOrder.h"
#include "lib/Memory/Storage.h"
#include "lib/Memory/Timeline.h"

namespace trainc {

/// A copy of a value that could not be computed in place, or a copy to or from another space. Writes zeros if
/// `from` is null.
struct Move {
  View from, to;
  int64_t bytes;
  plan::Stream stream = plan::Stream::compute;
};

/// The view of each value of an entry, the scratch buffers of its ops, and the copies between its ops.
class Assignment {
public:
  /// Nothing is assigned yet; see assignEntry().
  Assignment(train::EntryOp entry, StorageTable &storages);

  /// Returns the value's view; null if it has none yet.
  View view(mlir::Value value) const { return views_.lookup(value); }
  /// Returns the storages of an op's scratch buffers, in order.
  llvm::ArrayRef<int> scratch(mlir::Operation *op) const;
  llvm::ArrayRef<Move> movesBefore(mlir::Operation *op) const;
  llvm::ArrayRef<Move> movesAfter(mlir::Operation *op) const;
  /// Reads of offloaded states, in order, and the storages to which they are copied.
  llvm::ArrayRef<std::pair<train::GetOp, int>> fetches() const { return fetches_; }
  /// Returns the storages that hold values and scratch buffers of this entry only.
  llvm::ArrayRef<int> scratchStorages() const { return scratchStorages_; }
  const Timeline &timeline() const { return timeline_; }
  const StateOrder &stateOrder() const { return order_; }

  void setView(mlir::Value value, View view) { views_[value] = view; }
  /// Adds a storage for the value.
  View newScratch(mlir::Value value);
  /// Adds the storages of the op's scratch buffers.
  void addScratchOf(mlir::Operation *op);
  void moveBefore(mlir::Operation *op, const Move &move) { before_[op].push_back(move); }
  void moveAfter(mlir::Operation *op, const Move &move) { after_[op].push_back(move); }
  void addFetch(train::GetOp get, int storage) { fetches_.push_back({get, storage}); }

private:
  using MoveMap = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Move, 1>>;

  int addStorage(llvm::StringRef suffix, int64_t bytes, mlir::Type element, plan::Role role);

  StorageTable *storages_;
  Timeline timeline_;
  StateOrder order_;
  std::string entryName_;
  int firstStorage_; ///< number of storages before this entry's
  llvm::DenseMap<mlir::Value, View> views_;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int, 1>> scratch_;
  llvm::SmallVector<int> scratchStorages_;
  MoveMap before_, after_;
  llvm::SmallVector<std::pair<train::GetOp, int>> fetches_;
};

} // namespace trainc
