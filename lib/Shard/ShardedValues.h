// Choice of the values and states of a step that are sharded over ranks.
#pragma once

#include "dialects/Train/Train.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace trainc {

/// Follows every sum over ranks whose dimension 0 is a multiple of the number of ranks, op by op
/// (IndexingOpInterface). Values that correspond to the sum along dimension 0 are sharded, and so are
/// optimizer and gradient states to which such values are written. Two kinds of values are not sharded: those
/// that depend on a rank's own samples, up to the sums; and a sum that is added to an unsharded gradient,
/// until that gradient is read again.
class ShardedValues {
public:
  ShardedValues(mlir::ModuleOp module, int64_t ranks, int64_t zeroStage);

  bool isSharded(mlir::Value value) const { return sharded.contains(value); }
  /// Whether the state is sharded.
  bool isSharded(llvm::StringRef state) const { return shrunk.contains(state); }

  /// Returns the label of dimension 0 such that a shard of the op's one result is computed from the operands'
  /// shards along this label; -1 if there is none.
  int shardLabel(mlir::Operation &op) const;
  /// Returns the op's operands whose dimension 0 has `label`.
  static llvm::SmallVector<mlir::Value> operandsWith(mlir::Operation &op, int label);

private:
  bool findLocal();
  bool findSharded();
  bool readsLocal(mlir::Operation &op) const;
  bool givesShards(mlir::Operation &op) const;
  bool mayShrink(llvm::StringRef state) const;
  /// Whether the op writes a gradient that is not sharded.
  bool writesWholeGradient(train::SetOp set) const;
  bool isWrittenToWholeGradient(mlir::Operation &op) const;
  bool isAddedToWholeGradient(mlir::Operation &op) const;
  bool canShard(mlir::Operation &op, int label) const;
  bool readsSharded(mlir::Operation &op, int label) const;

  mlir::ModuleOp module;
  int64_t ranks, zeroStage;
  llvm::StringMap<train::StateRole> roles; ///< of all states
  llvm::DenseSet<mlir::Value> local;       ///< values that differ between ranks
  llvm::StringSet<> localStates;
  llvm::DenseSet<mlir::Value> sharded;
  llvm::StringSet<> shrunk;
  llvm::StringSet<> common; ///< unsharded gradients whose readers need shards only
};

} // namespace trainc
