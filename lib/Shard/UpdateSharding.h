// What each rank does of the update, and which part of the states it keeps: ZeRO stages 1 to 3.
#pragma once

#include "lib/Shard/Division.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace trainc {

/// Of what can be divided a rank computes its part alone: states shrink to it, parameters are gathered when
/// written, or, where they are divided too, when read. Ops for which parts do not suffice, sums over
/// dimension 0 too, work on the whole value, so that all stages and numbers of ranks compute the same bits.
class UpdateSharding {
public:
  /// `ranks` divide states among themselves; other groups of as many may have the same.
  UpdateSharding(mlir::ModuleOp module, int64_t ranks, bool hasReplicas, int64_t zeroStage)
      : module(module), ranks(ranks), hasReplicas(hasReplicas), division(module, ranks, zeroStage) {}

  void run();

private:
  void rewriteWrite(train::SetOp set);
  void gatherRead(mlir::Block &block);
  bool isGathered(mlir::Operation &op) const;
  void gather(mlir::Operation &op);
  /// This rank's part of `whole`.
  mlir::Value partOf(mlir::Value whole);
  mlir::IRMapping partsOf(llvm::ArrayRef<mlir::Value> wholes);
  mlir::Value makePart(mlir::Value whole, mlir::OpBuilder &builder);
  mlir::Value makeSum(train::SumOverRanksOp sum, mlir::Type part, mlir::OpBuilder &builder);
  mlir::Value clonePart(mlir::Operation &op, mlir::OpBuilder &builder);
  mlir::RankedTensorType partType(mlir::Type whole) const;

  mlir::ModuleOp module;
  int64_t ranks;
  bool hasReplicas;
  Division division;
  llvm::DenseMap<mlir::Value, mlir::Value> parts;
  llvm::SetVector<mlir::Operation *> dead; ///< users before what they use
};

} // namespace trainc
