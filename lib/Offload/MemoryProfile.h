// Estimated device memory of an entry's values during each of its ops, before addresses are known.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc {

/// Estimate of the bytes in use during each op of a block. The final plan (lib/Memory) adds alignment, gaps
/// between buffers, and workspaces. Device-resident states, and values in the memory of such states, are not
/// counted.
class MemoryProfile {
public:
  /// `isFetched` tells whether a read of a state copies the state into scratch memory.
  MemoryProfile(mlir::Block &block, llvm::function_ref<bool(train::GetOp)> isFetched);

  // Ops of the block, by number:
  size_t size() const { return ops_.size(); }
  mlir::Operation *op(size_t number) const { return ops_[number]; }
  size_t numberOf(mlir::Operation *op) const { return numbers_.lookup(op); }
  int64_t bytesAt(size_t number) const { return bytes_[number]; }
  void add(size_t number, int64_t bytes) { bytes_[number] += bytes; }
  /// Returns the number of the last op that reads the value's bytes.
  size_t lastRead(mlir::Value value) const;

  int64_t peak() const { return bytes_.empty() ? 0 : *llvm::max_element(bytes_); }

private:
  bool hasBytes(mlir::OpResult result, llvm::function_ref<bool(train::GetOp)> isFetched) const;
  bool isMadeOver(mlir::OpResult result) const;

  llvm::SmallVector<mlir::Operation *> ops_;
  llvm::DenseMap<mlir::Operation *, size_t> numbers_;
  llvm::SmallVector<int64_t> bytes_;
};

} // namespace trainc
