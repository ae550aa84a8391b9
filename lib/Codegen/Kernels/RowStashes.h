// Values of a row kernel that later passes read back instead of recomputing them.
#pragma once

#include "lib/Codegen/Kernels/BodyCost.h"
#include "lib/Codegen/RowFacts.h"

#include "llvm/ADT/MapVector.h"

namespace trainc::codegen {

/// Memory of a block for row buffers.
struct StashMemory {
  int64_t rowElements; ///< elements of one row buffer
  int64_t maxBytes;    ///< of all row buffers
};

/// The stashed values of a kernel, and the passes in which operands are read and results written. `facts`
/// must outlive the object.
class RowStashes {
public:
  /// Source from which later passes read a value back: the buffer of result `index` or row buffer `index` in
  /// the block's memory. If the value is not that result, its buffer holds the value until the result
  /// overwrites it.
  struct Stash {
    bool isResult;
    unsigned index;
  };

  explicit RowStashes(const RowFacts &facts) : facts(facts) {}

  /// Chooses the stashed values. The buffers of results that are tile reductions cannot hold them.
  void choose(const BodyCosts &costs, StashMemory memory,
              llvm::function_ref<bool(mlir::Value)> isTileReduction);

  const llvm::MapVector<mlir::Value, Stash> &all() const { return stashes; }
  /// Number of row buffers, and their bytes.
  int64_t buffers() const { return bufferCount; }
  int64_t bytes() const { return bufferBytes; }

  /// Returns the stash to read in `pass`; null if the value is computed.
  const Stash *find(mlir::Value value, int64_t pass) const;
  /// Returns values along columns that `pass` must compute besides operands of reductions: results and
  /// stashed values.
  llvm::SmallVector<mlir::Value> stored(int64_t pass) const;
  /// Returns the last pass that reads block argument `index` along columns; -1 if there is none.
  int64_t lastRead(unsigned index) const;
  /// Returns the first pass that writes a result along columns.
  int64_t firstWrite(unsigned result) const;

private:
  llvm::SmallVector<mlir::Value> roots(int64_t pass) const;
  /// Returns the number of instructions that compute the value, at most kStashWeight.
  int64_t weight(mlir::Value value, const BodyCosts &costs);
  /// Returns a result whose buffer can hold `value` until `pass`; -1 if there is none.
  int64_t borrowedResult(mlir::Value value, int64_t pass,
                         llvm::function_ref<bool(mlir::Value)> isTileReduction) const;

  const RowFacts &facts;
  llvm::MapVector<mlir::Value, Stash> stashes;
  int64_t bufferCount = 0, bufferBytes = 0;
  llvm::DenseMap<mlir::Value, int64_t> weights;
};

} // namespace trainc::codegen
