// Updates that the host's cores compute.
#pragma once

#include "lib/Codegen/Target.h"
#include "lib/Offload/Groups.h"
#include "lib/Offload/SavedValues.h"

#include "dialects/NN/NN.h"

namespace trainc {

/// Moves updates of an entry to the host, where the optimizer's states lie: gradients and parameters go
/// there, and new parameters come back. Other values of the device, such as the learning rate, go there once
/// for all updates.
class HostUpdates {
public:
  /// `rooms` are those of the entry in the host's memory. Both outlive the updates.
  HostUpdates(SavedRooms &rooms, const codegen::Target &host) : rooms_(rooms), host_(host) {}

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
  bool hasPlaces(const Group &group) const;
  bool isMadeInPlace(nn::KernelOp kernel) const;
  void readOnHost(nn::KernelOp kernel, mlir::OpOperand &operand);
  mlir::FlatSymbolRefAttr roomOf(mlir::Value value, nn::KernelOp reader);
  void giveBack(nn::KernelOp kernel, mlir::OpResult result, mlir::Value old);
  mlir::FlatSymbolRefAttr placeOf(mlir::OpResult result, mlir::Value old);

  SavedRooms &rooms_;
  const codegen::Target &host_;
  llvm::DenseMap<mlir::Value, train::StateOp> copied_; ///< where each value of the device lies on the host
};

} // namespace trainc
