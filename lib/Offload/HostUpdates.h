// Updates that the host's cores compute.
#pragma once

#include "lib/Offload/Groups.h"
#include "lib/Offload/SavedValues.h"

#include "dialects/NN/NN.h"

namespace trainc {

/// Moves updates of an entry to the host, where the optimizer's states lie: gradients and parameters go
/// there, and new parameters come back. Other values of the device, such as the learning rate, go there once
/// for all updates.
class HostUpdates {
public:
  /// `rooms` are those of the entry in the host's memory.
  explicit HostUpdates(SavedRooms &rooms) : rooms_(rooms) {}

  /// Whether the group is a kernel that reads and writes the optimizer's states, for which the host has a
  /// place.
  bool canMove(const Group &group) const;
  /// Groups come in the order of their ops.
  void move(const Group &group);

private:
  train::StateOp stateOf(mlir::FlatSymbolRefAttr name) const {
    return rooms_.symbols().lookup<train::StateOp>(name.getAttr());
  }
  bool isOnHost(mlir::FlatSymbolRefAttr state) const {
    return stateOf(state).getSpace() == plan::Space::host;
  }
  static bool isReadBehind(train::SetOp set);
  void readOnHost(nn::KernelOp kernel, mlir::OpOperand &operand);
  mlir::FlatSymbolRefAttr roomOf(mlir::Value value);
  void giveBack(nn::KernelOp kernel, mlir::OpResult result, mlir::ValueRange read);
  mlir::FlatSymbolRefAttr placeOf(mlir::OpResult result, mlir::ValueRange read);

  SavedRooms &rooms_;
  llvm::DenseMap<mlir::Value, train::StateOp> copied_; ///< where each value of the device lies on the host
};

} // namespace trainc
