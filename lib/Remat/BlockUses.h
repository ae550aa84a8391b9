// Uses of blocks that the backward recomputes.
#pragma once

#include "lib/Remat/ForwardSide.h"

#include <vector>

namespace trainc {

/// One use of a block.
struct BlockUse {
  std::vector<mlir::Operation *> ops; ///< forward ops between the use's inputs and outputs, in order
};

/// Selected uses of blocks in one entry. They are not nested and do not share ops.
class BlockUses {
public:
  /// Selects the uses of `blocks`; if that is empty, the outermost uses of all blocks.
  BlockUses(train::EntryOp entry, const ForwardSide &forward, llvm::ArrayRef<llvm::StringRef> blocks);

  /// Returns the uses in the order of the forward.
  llvm::ArrayRef<BlockUse> uses() const { return uses_; }
  /// Returns the index in uses() of the use that contains `op`; none if no use contains it.
  std::optional<size_t> useOf(mlir::Operation *op) const;
  /// Whether forward ops outside the use of `value` read it. Such a value is kept, not recomputed.
  bool isReadOutsideUse(mlir::Value value) const { return readOutsideUse_.contains(value); }

private:
  void findReadOutsideUse(mlir::Block &block, const ForwardSide &forward);
  void addRoundings(mlir::Block &block, const ForwardSide &forward);

  std::vector<BlockUse> uses_;
  llvm::DenseMap<mlir::Operation *, size_t> useOf_;
  llvm::DenseSet<mlir::Value> readOutsideUse_;
};

/// Returns the largest number of selected uses in any one entry of the module.
int64_t countUses(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> blocks);

} // namespace trainc
