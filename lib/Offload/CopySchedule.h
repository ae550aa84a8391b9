// When copies of an entry run, and what memory they take meanwhile.
#pragma once

#include "dialects/Train/Train.h"
#include "lib/Offload/MemoryProfile.h"
#include "lib/Offload/OpTimes.h"

namespace trainc {

/// The fetches and stores of an entry, of which each stands where it has to: so that nobody waits for them,
/// as far as memory has room.
class CopySchedule {
public:
  /// `symbols` are the module's. Fails, with an error at the op, if the target cannot execute one.
  static llvm::FailureOr<CopySchedule> of(train::EntryOp entry, const mlir::SymbolTable &symbols,
                                          codegen::OpCosts &costs);

  /// Bytes of values at most, as the entry stands.
  int64_t peak() const { return profile_.peak(); }

  /// Lets values take up to `bytes` at a time. Stored activations keep their memory (kBesideAttr) until the
  /// copy is expected to end. Fetches move forward, in their order, to the last moment at which they, and all
  /// copies behind, would still end in time. For what that lacks of memory, kAheadAttr says how much earlier
  /// that would be.
  void run(int64_t bytes);
  /// Says of stores that end behind the entry beside how many ops of the next one that is, which is behind
  /// `next` (kOutlastsAttr). Both have run.
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

  mlir::Block *block_; ///< whose ops copies may move among
  const mlir::SymbolTable &symbols_;
  Machine machine_;
  OpTimes times_;
  MemoryProfile profile_;
  llvm::SmallVector<std::pair<train::SetOp, mlir::Operation *>> kept_; ///< and the last op beside it
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>>
      early_; ///< fetches, and in front of what they should stand
  llvm::SmallVector<std::pair<train::SetOp, double>> late_; ///< stores behind all fetches, and when they end
};

} // namespace trainc
