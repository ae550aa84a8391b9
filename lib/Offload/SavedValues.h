// Activations that the forward stores and the backward fetches, as offloaded states.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Codegen/OpCost.h"

namespace trainc {

/// Spill slots for values of entries. Entries run one after another and share the slots.
class SpillSlots {
public:
  SpillSlots(mlir::ModuleOp module, plan::Space space);

  plan::Space space() const { return space_; }
  /// Symbols of the module, including all slots.
  const mlir::SymbolTable &symbols() const { return symbols_; }
  /// Makes all slots available for the next entry.
  void beginEntry() { used_.clear(); }
  /// Returns a slot of type `type` that no other value of the current entry uses.
  train::StateOp take(mlir::RankedTensorType type);

private:
  mlir::SymbolTable symbols_;
  plan::Space space_;
  train::StateOp last_; ///< state after which the next slot is declared
  llvm::DenseMap<mlir::Type, llvm::SmallVector<train::StateOp>> slots_;
  llvm::DenseMap<mlir::Type, size_t> used_;
};

/// Stores each value of at least `minBytes` bytes after the forward op that computes it, and fetches it
/// before the first backward op that reads it. Leaves a value on the device if the predicted time in between
/// is too short for both copies. With `hiddenAlone`, also leaves it there if its copies do not fit between
/// all other copies of values, or do not end soon. Fails with an error at an op that the target cannot
/// execute.
llvm::LogicalResult saveValues(train::EntryOp entry, int64_t minBytes, bool hiddenAlone, SpillSlots &slots,
                               codegen::OpCosts &costs);

} // namespace trainc
