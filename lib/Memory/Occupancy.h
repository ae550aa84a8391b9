// Bytes of storages that hold values which are still read.
#pragma once

#include "lib/Memory/Assignment.h"

namespace trainc {

/// The values that each storage holds so far. Decides whether another value may be computed in the same
/// bytes.
class Occupancy {
public:
  /// Values by storage.
  using Occupants = llvm::DenseMap<int, llvm::SmallVector<mlir::Value, 2>>;

  Occupancy(Assignment &assignment, StorageTable &storages) : assignment_(assignment), storages_(storages) {}

  /// Sets the value's view, whose bytes it holds from now on.
  void bind(mlir::Value value, View view);
  /// Sets the view of a loop's block argument, whose bytes the loop's body may overwrite.
  void bindCarried(mlir::BlockArgument argument, View view);
  /// Materialises zeros before `reader` in one buffer for all readers.
  void makeZero(mlir::Operation *reader, mlir::Value zeros);
  /// Materialises the zeros among the op's operands, except for those that it overwrites.
  void makeZeros(ExecutableOpInterface op);

  /// Enters a loop's body, where storages of the loop's results hold the body's own values and carried values
  /// only. Returns the occupants outside.
  Occupants enterBody(nn::ChunksOp loop);
  void leaveBody(Occupants outside) { occupants_ = std::move(outside); }

  /// Whether the bytes of `made` at `view` are not read after the op of `made`. The op itself may read them
  /// if it can compute in place.
  bool isFree(View view, mlir::OpResult made);
  /// Whether the op of `made` may overwrite the bytes of an operand, because nothing reads them afterwards.
  bool mayOverwrite(mlir::OpResult made, mlir::Value operand);
  /// Whether a value may be computed in the state's buffer. `stores` is the write for which the value, or the
  /// value that contains it, is computed; null if there is none.
  bool canMakeInState(mlir::OpResult made, llvm::StringRef state, View target, train::SetOp stores = {});
  /// Whether all values of a storage are dead when `value` is.
  bool diesLast(mlir::Value value, int storage) const;

private:
  bool covers(View view, mlir::Value viewed, mlir::Value other) const;
  bool isReadLater(View view, mlir::OpResult made, mlir::Value other) const;
  bool mayBeMadeOver(mlir::OpResult made, mlir::OpOperand &operand, View target) const;

  Assignment &assignment_;
  StorageTable &storages_;
  Occupants occupants_;
  llvm::DenseSet<mlir::Value> carried_;
};

/// Returns the pairs (operand, result) that an op's kernels can compute in place, from its `plan.may_alias`.
llvm::SmallVector<std::pair<int64_t, int64_t>> mayAliasPairs(mlir::Operation *op);

} // namespace trainc
