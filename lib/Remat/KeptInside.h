// Choice of the values inside a block use that are kept instead of recomputed.
#pragma once

#include "lib/Codegen/OpCost.h"
#include "lib/Remat/BlockUses.h"

namespace trainc {

/// Chooses the values of one use that save the most seconds of recomputation per byte.
class KeptInside {
public:
  /// Predicts the cost of the use's ops. Fails with an error at an op that the target cannot execute.
  static llvm::FailureOr<KeptInside> price(const BlockUse &use, const BlockUses &uses,
                                           const ForwardSide &forward, codegen::OpCosts &costs);

  /// Returns values to keep. They have at most `percent` percent of the bytes of the use that the backward
  /// reads.
  llvm::SmallVector<mlir::Value> choose(int64_t percent) const;

private:
  /// An op of the use; nodes are in the order of the forward.
  struct Node {
    mlir::Operation *op;
    llvm::SmallVector<size_t> operands; ///< nodes of the use that must be recomputed first
    double seconds = 0;                 ///< recomputation time
    int64_t bytes = 0;   ///< bytes that keeping the results adds; 0 if they are in memory anyway
    bool isRead = false; ///< whether the backward reads a result
  };

  double secondsWith(const llvm::BitVector &kept) const;
  std::optional<size_t> best(const llvm::BitVector &kept, int64_t bytes) const;

  std::vector<Node> nodes_;
};

} // namespace trainc
