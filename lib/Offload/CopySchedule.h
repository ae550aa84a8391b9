// Schedule of an entry's copies, and the memory that they occupy meanwhile.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Offload/MemoryProfile.h"
#include "lib/Offload/OpTimes.h"

namespace trainc {

/// Schedules the fetches and stores of an entry, starting from an order that is correct but exposes copies.
/// As far as memory allows, nothing waits for a copy.
class CopySchedule {
public:
  /// `symbols` are the module's. Fails with an error at an op that the target cannot execute.
  static llvm::FailureOr<CopySchedule> of(train::EntryOp entry, const mlir::SymbolTable &symbols,
                                          codegen::OpCosts &costs);

  /// Peak bytes of values before scheduling.
  int64_t peak() const { return profile_.peak(); }

  /// Schedules copies so that values take at most `bytes` bytes. Stored activations keep their memory
  /// (kBesideAttr) until the copy is expected to end. Fetches are moved earlier, in order, to the latest
  /// positions at which they and all following copies are expected to end in time. Where memory is lacking,
  /// kAheadAttr tells how much earlier a fetch should be.
  void run(int64_t bytes);
  /// Records for stores that end after this entry during how many ops of `next`, the following entry, they
  /// still run (kOutlastsAttr). Both entries must have been scheduled.
  void keepOutlasting(const CopySchedule &next);

private:
  std::vector<double> begins() const;
  CopySchedule(mlir::Block &block, OpTimes times, const mlir::SymbolTable &symbols, const Machine &machine);
  double seconds(mlir::Operation *copy) const;
  bool isFetch(mlir::Operation *op) const;
  bool isStore(mlir::Operation *op) const;
  train::StateOp stateOf(mlir::Operation *copy) const;

  llvm::DenseMap<mlir::Operation *, double> latestBegins() const;
  void keepStored(int64_t bytes);
  void fetchAhead(int64_t bytes);
  class DiskQueue;
  size_t soonEnough(mlir::Operation *fetch, double latest, const DiskQueue &disk, size_t previous,
                    size_t number) const;
  size_t lastInTime(mlir::Operation *fetch, DiskQueue disk, size_t first, size_t last) const;
  mlir::Operation *anchorAt(size_t number) const;
  size_t lastBegunBy(double time, size_t first, size_t last) const;

  mlir::Block *block_; ///< block in which copies may move
  const mlir::SymbolTable &symbols_;
  Machine machine_;
  OpTimes times_;
  MemoryProfile profile_;
  llvm::SmallVector<std::pair<train::SetOp, mlir::Operation *>>
      kept_; ///< stores, each with the last op that overlaps with it
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>>
      early_; ///< fetches, each with the op before which it should be placed
  llvm::SmallVector<std::pair<train::SetOp, double>>
      late_; ///< stores after all fetches, each with the time when it ends
};

} // namespace trainc
