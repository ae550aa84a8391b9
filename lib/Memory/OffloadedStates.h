// Copies between scratch and offloaded states.
#pragma once

#include "lib/Memory/Occupancy.h"

namespace trainc {

/// Returns the view of the piece of a state that the op reads or writes.
View pieceOf(train::GetOp get, const StorageTable &storages);
View pieceOf(train::SetOp set, const StorageTable &storages);

/// Whether the value is fetched from an offloaded state, or stored to one.
bool isFetched(mlir::Value value, const StorageTable &storages);
bool isStored(mlir::Value value, const StorageTable &storages);

/// Assigns values that are read from, or written to, offloaded states.
class OffloadedStates {
public:
  OffloadedStates(Assignment &assignment, Occupancy &occupancy, StorageTable &storages)
      : assignment_(assignment), occupancy_(occupancy), storages_(storages) {}

  void assignGet(train::GetOp get);
  void assignSet(train::SetOp set);

private:
  void fetch(train::GetOp get);
  View fetchedInState(train::GetOp get, View from);
  void store(train::SetOp set);
  View ownStorage(mlir::Operation *op, mlir::Value value, plan::Space destination);
  void alignTransfer(View value, View state);

  Assignment &assignment_;
  Occupancy &occupancy_;
  StorageTable &storages_;
};

/// Reports an error at a host op whose operands or results are not in host states.
llvm::LogicalResult checkHostOps(train::EntryOp entry, const Assignment &assignment,
                                 const StorageTable &storages);

} // namespace trainc
