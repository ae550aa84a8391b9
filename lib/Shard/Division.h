// Which values and states of a step ranks can divide among themselves.
#pragma once

#include "dialects/Train/Train.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace trainc {

/// Follows every sum over ranks that dimension 0 divides by their number, op by op (IndexingOpInterface):
/// values that correspond to it along dimension 0 are divided, and so are states of optimizer and gradients
/// to which such values are written. What depends on a rank's own samples, up to the sums, is not; nor is a
/// sum that is added to a gradient which every rank keeps whole, before that gradient is read again.
class Division {
public:
  Division(mlir::ModuleOp module, int64_t ranks, int64_t zeroStage);

  bool isDivided(mlir::Value value) const { return divided.contains(value); }
  /// Whether the state holds a part.
  bool isDivided(llvm::StringRef state) const { return shrunk.contains(state); }

  /// The label of dimension 0 along which a part of the op's one result is computed from parts of the
  /// operands that have it; -1 if there is none.
  int partLabel(mlir::Operation &op) const;
  /// The op's operands whose dimension 0 has `label`.
  static llvm::SmallVector<mlir::Value> operandsWith(mlir::Operation &op, int label);

private:
  bool findLocal();
  bool findDivided();
  bool readsLocal(mlir::Operation &op) const;
  bool divides(mlir::Operation &op) const;
  bool mayShrink(llvm::StringRef state) const;
  /// Whether a gradient is written that every rank keeps whole.
  bool writesWholeGradient(train::SetOp set) const;
  bool isWrittenToWholeGradient(mlir::Operation &op) const;
  bool isAddedToWholeGradient(mlir::Operation &op) const;
  bool canDivide(mlir::Operation &op, int label) const;
  bool readsDivided(mlir::Operation &op, int label) const;

  mlir::ModuleOp module;
  int64_t ranks, zeroStage;
  llvm::StringMap<train::StateRole> roles; ///< of all states
  llvm::DenseSet<mlir::Value> local;       ///< values that differ between ranks
  llvm::StringSet<> localStates;
  llvm::DenseSet<mlir::Value> divided;
  llvm::StringSet<> shrunk;
  llvm::StringSet<> common; ///< gradients that every rank has whole, of which parts do for what follows
};

} // namespace trainc
