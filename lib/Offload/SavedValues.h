// Activations that the forward stores and the backward fetches, as offloaded states.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Codegen/OpCost.h"

namespace trainc {

/// Spill slots for values of entries, which run one after another and share the slots.
class SpillSlots {
public:
  SpillSlots(mlir::ModuleOp module, plan::Space space);

  plan::Space space() const { return space_; }
  /// Symbols of the module, including all slots.
  const mlir::SymbolTable &symbols() const { return symbols_; }
  /// Makes all slots available for the next entry.
  void beginEntry() { used_.clear(); }
  /// Returns a slot of the type that no other value of the entry uses.
  train::StateOp take(mlir::RankedTensorType type);

private:
  mlir::SymbolTable symbols_;
  plan::Space space_;
  train::StateOp last_; ///< state after which the next slot is declared
  llvm::DenseMap<mlir::Type, llvm::SmallVector<train::StateOp>> slots_;
  llvm::DenseMap<mlir::Type, size_t> used_;
};

/// Stores values of at least `minBytes` bytes after the forward op that computes them, and fetches them
/// before the first backward op that reads them, if there is predicted time for both copies in between. With
/// `hiddenAlone`, the copies must also fit between all other copies of values, and end soon. Fails with an
/// error at an op that the target cannot execute.
llvm::LogicalResult saveValues(train::EntryOp entry, int64_t minBytes, bool hiddenAlone, SpillSlots &slots,
                               codegen::OpCosts &costs);

} // namespace trainc
