// Schedule of an entry's copies, and the device memory in use during each of its ops.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Offload/MemoryProfile.h"
#include "lib/Offload/OpTimes.h"

namespace trainc {

/// Schedules the fetches and stores of an entry. The initial order is correct, but its copies are exposed.
/// The schedule hides them as far as memory allows.
class CopySchedule {
public:
  /// `symbols` is the module's symbol table and must outlive the schedule. Fails with an error at an op that
  /// the target cannot execute.
  static llvm::FailureOr<CopySchedule> of(train::EntryOp entry, const mlir::SymbolTable &symbols,
                                          codegen::OpCosts &costs);

  /// Peak bytes of values before scheduling.
  int64_t peak() const { return profile_.peak(); }

  /// Schedules copies so that values take at most `bytes` bytes. A stored activation keeps its memory
  /// (kBesideAttr) until the copy is expected to end. A fetch is moved to the latest position from which it
  /// and all later copies are expected to end in time; fetches keep their order. If memory does not allow
  /// that position, kAheadAttr tells how much earlier the fetch should be.
  void run(int64_t bytes);
  /// Records how many ops of the next entry, `next`, overlap with each store that ends after this entry
  /// (kOutlastsAttr). Both entries must have been scheduled.
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
