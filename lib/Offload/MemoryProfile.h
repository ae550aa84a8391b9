// How much of the device's memory values of an entry take while each of its ops runs, before addresses are
// known.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc {

/// An estimate: what lib/Memory finds has alignment, gaps between buffers, and workspaces as well. States in
/// the device's memory are not counted, nor what is made in their place.
class MemoryProfile {
public:
  /// `isFetched` says of which reads of states the values lie in scratch.
  MemoryProfile(mlir::Block &block, llvm::function_ref<bool(train::GetOp)> isFetched);

  // Ops of the block, by their numbers:
  size_t size() const { return ops_.size(); }
  mlir::Operation *op(size_t number) const { return ops_[number]; }
  size_t numberOf(mlir::Operation *op) const { return numbers_.lookup(op); }
  int64_t bytesAt(size_t number) const { return bytes_[number]; }
  void add(size_t number, int64_t bytes) { bytes_[number] += bytes; }
  /// Where one reads the value's bytes for the last time.
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
