// Which values inside a block's use stay, where some of it is computed again and some is kept.
#pragma once

#include "lib/Codegen/OpCost.h"
#include "lib/Remat/BlockUses.h"

namespace trainc {

/// Chooses among the values of one use those that save the most seconds of recomputation per byte.
class KeptInside {
public:
  /// Prices the use's ops. Fails, with an error at an op, where the target cannot execute it.
  static llvm::FailureOr<KeptInside> price(const BlockUse &use, const BlockUses &uses,
                                           const ForwardSide &forward, codegen::OpCosts &costs);

  /// Values that take at most `percent` of the bytes that the backward reads of the use.
  llvm::SmallVector<mlir::Value> choose(int64_t percent) const;

private:
  /// An op of the use, in the order of the forward.
  struct Node {
    mlir::Operation *op;
    llvm::SmallVector<size_t> operands; ///< those of the use that are to be made again for it
    double seconds = 0;                 ///< to compute it again
    int64_t bytes = 0;                  ///< to keep it; 0 where it lies in memory in any case
    bool isRead = false;                ///< by the backward
  };

  double secondsWith(const llvm::BitVector &kept) const;
  std::optional<size_t> best(const llvm::BitVector &kept, int64_t bytes) const;

  std::vector<Node> nodes_;
};

} // namespace trainc
