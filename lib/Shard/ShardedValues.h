// Choice of the values and states of a step that are sharded over ranks.
#pragma once

#include "dialects/Train/Train.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace trainc {

/// Sharded values and states of a step. Starts at every sum over ranks whose dimension 0 is a multiple of the
/// number of ranks, and follows it from op to op (IndexingOpInterface). A value is sharded if its dimension 0
/// corresponds to that of the sum. An optimizer or gradient state is sharded if a sharded value is written to
/// it. A value that a sum depends on is made of a rank's own samples and is not sharded. If a sum is added to
/// an unsharded gradient, the result is not sharded until the gradient is read again.
class ShardedValues {
public:
  ShardedValues(mlir::ModuleOp module, int64_t ranks, int64_t zeroStage);

  bool isSharded(mlir::Value value) const { return sharded.contains(value); }
  /// Whether the state is sharded.
  bool isSharded(llvm::StringRef state) const { return shrunk.contains(state); }

  /// Returns the label of dimension 0 of the op's one result if a shard of the result can be computed from
  /// the operands' shards along this label; else -1.
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
