// What the forward makes and the backward reads, as states outside the device's memory.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Codegen/OpCost.h"

namespace trainc {

/// Room for values of entries, which run one after the other and share it.
class SavedRooms {
public:
  SavedRooms(mlir::ModuleOp module, plan::Space space);

  plan::Space space() const { return space_; }
  /// Of the module, with all rooms.
  const mlir::SymbolTable &symbols() const { return symbols_; }
  /// The entry that comes next uses all rooms anew.
  void beginEntry() { used_.clear(); }
  /// A state of the type that no other value of the entry has.
  train::StateOp take(mlir::RankedTensorType type);

private:
  mlir::SymbolTable symbols_;
  plan::Space space_;
  train::StateOp last_; ///< behind which the next room stands
  llvm::DenseMap<mlir::Type, llvm::SmallVector<train::StateOp>> rooms_;
  llvm::DenseMap<mlir::Type, size_t> used_;
};

/// Stores values of at least `leastBytes` behind the op of the forward that makes them, and fetches them
/// before the first op of the backward that reads them, if the cost model gives both copies as much time as
/// they take. With `hiddenAlone` they must have it beside all other copies of values, and end soon. Fails,
/// with an error at the op, if the target cannot execute one.
llvm::LogicalResult saveValues(train::EntryOp entry, int64_t leastBytes, bool hiddenAlone, SavedRooms &rooms,
                               codegen::OpCosts &costs);

} // namespace trainc
