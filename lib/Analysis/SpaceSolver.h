// Finds the placements of a group's values in one given space.
#pragma once

#include "lib/Analysis/IterationSpace.h"

#include "mlir/IR/BuiltinTypes.h"

namespace trainc {

/// Propagates placements through the ops, in both directions, until all are known, then checks every op.
class SpaceSolver {
public:
  SpaceSolver(llvm::ArrayRef<mlir::Operation *> ops, int64_t rows, int64_t columns);

  /// The solution, or none; then reason() says why.
  std::optional<IterationSpace> solve();
  const std::string &reason() const { return failureReason; }
  /// True where all values have a placement, and what fails is how they are used.
  bool placedAll() const { return placed; }

private:
  Placement make(RowMap rows, bool columns) const;
  Placement everyRow(bool columns) const;
  /// Number of leading dimensions of `shape` that are rows, for a value that varies along columns or not.
  std::optional<size_t> rowRank(llvm::ArrayRef<int64_t> shape, bool columns) const;

  void seed();
  bool propagateAll();
  bool propagate(mlir::Operation *op);
  bool propagateElementwise(mlir::Operation *op);
  bool propagateBroadcast(mlir::Operation *op);
  bool propagateReduce(mlir::Operation *op);
  bool propagateGather(mlir::Operation *op);
  /// Gives the first value without a placement one by its number of elements. False if there is no such value
  /// or it fits nowhere.
  bool guess();
  void reduced(mlir::Operation *op, Placement placement);

  bool check();
  bool checkUses(mlir::Operation *op);
  void measureDepths();

  void set(mlir::Value value, Placement placement);
  const Placement *known(mlir::Value value) const;
  void fail(mlir::Operation *op, llvm::StringRef what);

  llvm::ArrayRef<mlir::Operation *> ops;
  llvm::DenseSet<mlir::Operation *> members;
  IterationSpace space;
  bool changed = false, placed = false;
  std::string failureReason;
};

} // namespace trainc
