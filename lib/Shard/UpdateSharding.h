// What each rank does of the update, and which part of the states it keeps: ZeRO stages 0 to 3.
#pragma once

#include "lib/Shard/Division.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace trainc {

/// Of what can be divided a rank computes its part alone: states shrink to it, parameters are gathered when
/// written, or, where they are divided too, when read, and sums over dimension 0 are summed over ranks. Ops
/// for which parts do not suffice work on the whole value. At stage 0 only those sums are divided, so that
/// all stages compute the same bits.
class UpdateSharding {
public:
  /// `ranks` divide states among themselves; other groups of as many may have the same.
  UpdateSharding(mlir::ModuleOp module, int64_t ranks, bool hasReplicas, int64_t zeroStage)
      : module(module), ranks(ranks), hasReplicas(hasReplicas), zeroStage(zeroStage),
        division(module, ranks, zeroStage) {}

  void run();

private:
  void rewrite(mlir::Operation &op);
  void rewriteWrite(train::SetOp set);
  void rewriteSum(mlir::Operation &op, int label);
  void gatherRead(mlir::Block &block);
  bool isGathered(mlir::Operation &op) const;
  void gather(mlir::Operation &op);
  /// This rank's part of `whole`.
  mlir::Value partOf(mlir::Value whole);
  mlir::IRMapping partsOf(llvm::ArrayRef<mlir::Value> wholes);
  mlir::Value makePart(mlir::Value whole, mlir::OpBuilder &builder);
  mlir::Value clonePart(mlir::Operation &op, mlir::OpBuilder &builder);
  mlir::RankedTensorType partType(mlir::Type whole) const;

  mlir::ModuleOp module;
  int64_t ranks;
  bool hasReplicas;
  int64_t zeroStage;
  Division division;
  llvm::DenseMap<mlir::Value, mlir::Value> parts;
  llvm::SetVector<mlir::Operation *> dead; ///< users before what they use
};

} // namespace trainc
