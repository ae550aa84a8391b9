// Placements of the values of a rank's entries, along one axis of the mesh.
#pragma once

#include "dialects/Dist/Dist.h"
#include "dialects/Train/Train.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace trainc {

/// Derives how each value lies along an axis, in the phase `spmd`. States and inputs declare it
/// (#dist.placement); an input that does not is each rank's own. Values of ops follow from their operands by
/// the indexing rule. Only collectives and dist.part change a placement. A state that declares none is
/// replicated, or each rank's own if such a value is written to it.
class Placements {
public:
  Placements(mlir::ModuleOp module, llvm::StringRef axis) : module(module), axis(axis) {}

  /// Derives all placements. Emits an error at each op whose operands do not fit together, and at each write
  /// of a value to a state that declares another placement.
  llvm::LogicalResult derive();

  Along of(mlir::Value value) const { return values.lookup(value); }

private:
  bool walk();
  DerivedPlacement derive(mlir::Operation &op);
  DerivedPlacement deriveCollective(CollectiveOpInterface start) const;
  DerivedPlacement deriveByRule(mlir::Operation &op);
  std::string write(train::SetOp set);
  bool isAlong(mlir::ArrayAttr axes) const;
  bool isUniform(mlir::Value value, int64_t dim) const;

  mlir::ModuleOp module;
  llvm::StringRef axis;
  llvm::DenseMap<mlir::Value, Along> values;
  llvm::StringMap<train::StateOp> states;
  llvm::StringMap<Along> stateValues;
  llvm::SmallVector<std::pair<mlir::Operation *, std::string>> faults; ///< of the latest walk
  bool changed = false;
};

} // namespace trainc
