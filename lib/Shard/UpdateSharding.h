// ZeRO stages 1 and 2: each rank updates its part of what all ranks hold.
#pragma once

#include "lib/Shard/Division.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace trainc {

/// Of what can be divided a rank computes its part alone: states shrink to it, parameters are gathered when
/// written, and sums over dimension 0 are summed over ranks. Ops for which parts do not suffice work on the
/// whole value.
class UpdateSharding {
public:
  UpdateSharding(mlir::ModuleOp module, int64_t ranks)
      : module(module), ranks(ranks), division(module, ranks) {}

  void run();

private:
  void rewrite(mlir::Operation &op);
  void rewriteWrite(train::SetOp set);
  void rewriteSum(mlir::Operation &op, int label);
  void eraseWhole(mlir::Block &block);
  void gather(train::GetOp get);
  /// This rank's part of `whole`.
  mlir::Value partOf(mlir::Value whole);
  mlir::IRMapping partsOf(llvm::ArrayRef<mlir::Value> wholes);
  mlir::Value makePart(mlir::Value whole, mlir::OpBuilder &builder);
  mlir::Value clonePart(mlir::Operation &op, mlir::OpBuilder &builder);
  mlir::RankedTensorType partType(mlir::Type whole) const;

  mlir::ModuleOp module;
  int64_t ranks;
  Division division;
  llvm::DenseMap<mlir::Value, mlir::Value> parts;
};

} // namespace trainc
