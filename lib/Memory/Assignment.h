// Assignment of an entry's values to storages, before addresses are known.
#pragma once

#include "lib/Analysis/KernelAttributes.h"
#include "lib/Analysis/Preconditions.h"
#include "lib/Analysis/RowPadding.h"
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

/// Assigns a view to each value of an entry. A value is computed where it is wanted (in a state's buffer, in
/// a loop's result, over a dead operand) if no other value there is still needed. Otherwise it is copied.
class Assignment {
public:
  Assignment(train::EntryOp entry, StorageTable &storages);

  View view(mlir::Value value) const { return views_.lookup(value); }
  /// Returns the storages of an op's scratch buffers, in order.
  llvm::ArrayRef<int> scratch(mlir::Operation *op) const;
  llvm::ArrayRef<Move> movesBefore(mlir::Operation *op) const;
  llvm::ArrayRef<Move> movesAfter(mlir::Operation *op) const;
  /// Reads of offloaded states, in order, and the storages to which they are copied.
  llvm::ArrayRef<std::pair<train::GetOp, int>> fetches() const { return fetches_; }
  /// Reports an error at a host op whose operands or results are not in host states.
  llvm::LogicalResult checkHostOps(train::EntryOp entry) const;
  const Timeline &timeline() const { return timeline_; }
  /// This entry's scratch storages: a range of indices into the table.
  std::pair<int, int> scratchRange() const { return {firstScratch_, lastScratch_}; }

private:
  using MoveMap = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Move, 1>>;

  void assignBlock(mlir::Block &block);
  void assignOp(mlir::Operation &op);
  void assignGet(train::GetOp get);
  bool isZeroAnyway(llvm::StringRef state);
  void assignSet(train::SetOp set);
  bool isFetched(mlir::Value value) const;
  bool isStored(mlir::Value value) const;
  View pieceOf(train::GetOp get);
  View pieceOf(train::SetOp set);
  void fetch(train::GetOp get);
  View fetchedInState(train::GetOp get, View from);
  void store(train::SetOp set);
  View ownStorage(mlir::Operation *op, mlir::Value value, plan::Space destination);
  void alignTransfer(View value, View state);
  void assignExecutable(ExecutableOpInterface op);
  void assignScratch(mlir::Operation *op);
  void makeZeros(ExecutableOpInterface op);
  void makeZero(mlir::Operation *reader, mlir::Value zeros);
  void assignAlias(ExecutableOpInterface op);
  bool outlivesWhole(ExecutableOpInterface part) const;
  void assignPack(ExecutableOpInterface pack);
  void assignCollective(ExecutableOpInterface start);
  void assignResult(ExecutableOpInterface op, mlir::OpResult result);
  void assignLoop(nn::ChunksOp loop);
  void assignCarried(nn::ChunksOp loop, mlir::OpResult result);
  void assignLoopInput(nn::ChunksOp loop, unsigned index);
  void assignSplitResult(mlir::OpResult result);
  void enterBody(nn::ChunksOp loop);
  void assignYield(mlir::Operation *yield);
  void moveAtOnce(mlir::Operation *op, llvm::SmallVectorImpl<std::pair<Move, mlir::Value>> &moves);
  void measureLifetimes(mlir::Block &block);

  View newScratch(mlir::Value value);
  /// Returns the view of the result of an op of class Alias, whose operand has the view `whole`.
  static View viewInside(View whole, ExecutableOpInterface alias);
  static int64_t bytesOf(mlir::Value value) { return paddedBytes(value); }
  void bind(mlir::Value value, View view);
  /// Whether the bytes of `made` at `view` are not read after the op of `made`. The op itself may read them
  /// if it can compute in place.
  bool isFree(View view, mlir::OpResult made);
  /// Whether `other` overlaps with `made` at `view` and is read after the op of `made`.
  bool isReadLater(View view, mlir::OpResult made, mlir::Value other);
  bool covers(View view, mlir::Value viewed, mlir::Value other) {
    return overlap(view, bytesOf(viewed), views_.lookup(other), bytesOf(other));
  }
  /// Returns the view at which the consumer of `value` wants it, if it can be computed there; else null.
  View wantedView(mlir::OpResult value) { return wantedView(value, value, View()); }
  View wantedView(mlir::Value value, mlir::OpResult made, View within);
  View wantedByUser(mlir::OpOperand &use, mlir::OpResult made, View within);
  View packedView(mlir::OpOperand &member, mlir::OpResult made, View within);
  bool canMakeInState(mlir::OpResult made, llvm::StringRef state, View target, train::SetOp stores = {});
  bool mayBeMadeOver(mlir::OpResult made, mlir::OpOperand &operand, View target);
  /// Whether all readers of `value`, directly or through views, begin before `position`, except `pack`.
  bool isReadBefore(mlir::Value value, mlir::Operation *pack, int64_t position) const;
  /// Whether nothing but the collective uses the operand's bytes from the collective's start on.
  bool isOnlyReader(ExecutableOpInterface start);
  /// Whether the op of `made` may overwrite the bytes of an operand, because nothing reads them afterwards.
  bool mayOverwrite(mlir::OpResult made, mlir::Value operand);
  void touch(View view, int64_t first, int64_t last);

  StorageTable &storages_;
  StateOrder order_;
  Timeline timeline_;
  std::string entryName_;
  EntryKind entryKind_;
  int firstScratch_, lastScratch_;
  llvm::DenseMap<mlir::Value, View> views_;
  /// Views at which a loop wants the values that its body yields.
  llvm::DenseMap<mlir::Value, View> yieldViews_;
  /// Carried block arguments, whose bytes the body may overwrite.
  llvm::DenseSet<mlir::Value> carried_;
  /// Values in each storage so far. In a loop's body, storages that it may overwrite list the body's own
  /// values only.
  llvm::DenseMap<int, llvm::SmallVector<mlir::Value, 2>> occupants_;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int, 1>> scratch_;
  MoveMap before_, after_;
  llvm::SmallVector<std::pair<train::GetOp, int>> fetches_;
};

/// Returns the pairs (operand, result) that an op's kernels can compute in place, from its `plan.may_alias`.
llvm::SmallVector<std::pair<int64_t, int64_t>> mayAliasPairs(mlir::Operation *op);

} // namespace trainc
