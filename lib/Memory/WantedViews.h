// Views at which the consumers of values want them.
#pragma once

#include "lib/Memory/Occupancy.h"

namespace trainc {

/// Finds views that spare a copy: in a state, in a flat tensor, in the destination of a gather, in the result
/// of a loop, or in place of a later op.
class WantedViews {
public:
  WantedViews(Assignment &assignment, Occupancy &occupancy, StorageTable &storages)
      : assignment_(assignment), occupancy_(occupancy), storages_(storages) {}

  /// Returns the view at which the consumer of `value` wants it, if it can be computed there; else null.
  View of(mlir::OpResult value) { return of(value, value); }
  /// Returns the same, or the view of a new storage.
  View orScratch(mlir::OpResult value);
  /// Sets the view at which a loop wants a value that its body yields.
  void setYielded(mlir::Value value, View view) { yielded_[value] = view; }

private:
  View of(mlir::Value value, mlir::OpResult made);
  View byUser(mlir::OpOperand &use, mlir::OpResult made);
  View packed(mlir::OpOperand &member, mlir::OpResult made);

  Assignment &assignment_;
  Occupancy &occupancy_;
  StorageTable &storages_;
  llvm::DenseMap<mlir::Value, View> yielded_;
};

} // namespace trainc
