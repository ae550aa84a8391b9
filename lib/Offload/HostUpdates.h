// Updates on the host's cores.
#pragma once

#include "lib/Codegen/Target.h"
#include "lib/Offload/Groups.h"
#include "lib/Offload/SavedValues.h"

#include "dialects/NN/NN.h"

namespace trainc {

/// Moves an entry's parameter updates to the host, where the optimizer states are. Gradients and parameters
/// are copied to the host, and new parameters back. Other device values, such as the learning rate, are
/// copied once for all updates.
class HostUpdates {
public:
  /// `slots` are the entry's spill slots in host memory. Both arguments must outlive this object.
  HostUpdates(SpillSlots &slots, const codegen::Target &host) : slots_(slots), host_(host) {}

  /// Whether the group is a kernel that reads and writes optimizer states, and the host can hold all its
  /// operands and results.
  bool canMove(const Group &group) const;
  /// Moves the update to the host. Call it for groups in the order of their ops.
  void move(const Group &group);

private:
  train::StateOp stateOf(mlir::FlatSymbolRefAttr name) const {
    return slots_.symbols().lookup<train::StateOp>(name.getAttr());
  }
  bool isOnHost(mlir::FlatSymbolRefAttr state) const {
    return stateOf(state).getSpace() == plan::Space::host;
  }
  bool hasPlaces(const Group &group) const;
  bool isMadeInPlace(nn::KernelOp kernel) const;
  void readOnHost(nn::KernelOp kernel, mlir::OpOperand &operand);
  mlir::FlatSymbolRefAttr slotOf(mlir::Value value, nn::KernelOp reader);
  void copyResultToDevice(nn::KernelOp kernel, mlir::OpResult result, mlir::Value old);
  mlir::FlatSymbolRefAttr placeOf(mlir::OpResult result, mlir::Value old);

  SpillSlots &slots_;
  const codegen::Target &host_;
  llvm::DenseMap<mlir::Value, train::StateOp> copied_; ///< host copy of each device value
};

} // namespace trainc
