// ZeRO stages 1 and 2: each rank updates its part of what all ranks hold.
#pragma once

#include "dialects/Train/Train.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace trainc {

/// Follows every sum over ranks that dimension 0 divides by their number: what is computed from it, dimension
/// by dimension (IndexingOpInterface), is computed of a rank's part alone. States of optimizer and gradients
/// to which such values are written shrink to a part, parameters are gathered when written, and sums over
/// dimension 0 are summed over ranks. Ops for which parts do not suffice work on the whole value.
class UpdateSharding {
public:
  UpdateSharding(mlir::ModuleOp module, int64_t ranks) : module(module), ranks(ranks) {}

  void run();

private:
  bool findLocal();
  bool readsLocal(mlir::Operation &op) const;
  bool findDivided();
  bool isDivided(mlir::Operation &op) const;
  bool readsDivided(mlir::Operation &op, const IndexingRule &rule, int label) const;
  int summedLabel(mlir::Operation &op) const;
  bool mayShrink(llvm::StringRef state) const;

  void rewrite(mlir::Operation &op);
  void rewriteWrite(train::SetOp set);
  void rewriteSum(mlir::Operation &op, int label);
  mlir::IRMapping partsOf(mlir::Operation &op, const IndexingRule &rule, int label);
  void gather(train::GetOp get);
  /// This rank's part of `whole`.
  mlir::Value partOf(mlir::Value whole);
  mlir::Value makePart(mlir::Value whole, mlir::OpBuilder &builder);
  mlir::Value clonePart(mlir::Operation &op, mlir::OpBuilder &builder);
  mlir::RankedTensorType partType(mlir::Type whole) const;

  mlir::ModuleOp module;
  int64_t ranks;
  llvm::DenseSet<mlir::Value> local; ///< values that differ between ranks
  llvm::StringSet<> localStates;
  llvm::DenseSet<mlir::Value> divided; ///< values that are computed in parts
  llvm::StringSet<> shrunk;            ///< states that hold a part
  llvm::DenseMap<mlir::Value, mlir::Value> parts;
};

} // namespace trainc
