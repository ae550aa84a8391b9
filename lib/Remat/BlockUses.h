// The uses of blocks whose forward the backward computes again.
#pragma once

#include "lib/Remat/ForwardSide.h"

#include <vector>

namespace trainc {

/// One use of a block.
struct BlockUse {
  std::vector<mlir::Operation *> ops; ///< of the forward, between what enters and what leaves, in order
};

/// Which uses of blocks are computed again.
struct UseChoice {
  llvm::SmallVector<llvm::StringRef> blocks; ///< uses of these; none: the outermost of all
  int64_t every = 1;                         ///< of those, in the order of the forward, the first of so many
};

/// The uses in one entry. None lies within another, and no op is of two.
class BlockUses {
public:
  BlockUses(train::EntryOp entry, const ForwardSide &forward, const UseChoice &choice);

  /// In the order of the forward.
  llvm::ArrayRef<BlockUse> uses() const { return uses_; }
  /// The number of the use that `op` belongs to; none if it is of no use.
  std::optional<size_t> useOf(mlir::Operation *op) const;
  /// Whether ops of the forward outside the value's use read it: it leaves the block, and is not made again.
  bool leaves(mlir::Value value) const { return leaving_.contains(value); }

private:
  void findLeaving(mlir::Block &block, const ForwardSide &forward);
  void addRoundings(mlir::Block &block, const ForwardSide &forward);

  std::vector<BlockUse> uses_;
  llvm::DenseMap<mlir::Operation *, size_t> useOf_;
  llvm::DenseSet<mlir::Value> leaving_;
};

/// The most uses that an entry of the module has.
int64_t countUses(mlir::ModuleOp module, const UseChoice &choice);

} // namespace trainc
