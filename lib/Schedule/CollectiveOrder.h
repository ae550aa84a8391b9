// When the collectives of one entry begin and are waited for.
#pragma once

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/Train/Train.h"

namespace trainc {

/// Moves starts and waits of an entry's collectives; see the pass schedule-collectives.
class CollectiveOrder {
public:
  /// `prefetch`: units of parameters to gather ahead.
  CollectiveOrder(train::EntryOp entry, int64_t prefetch)
      : block(entry.getBody().front()), prefetch(prefetch) {}

  void run();

private:
  /// Gathers of one unit that are read one after the other.
  struct Unit {
    mlir::Attribute name;
    mlir::Operation *firstRead;
    llvm::SmallVector<CollectiveOpInterface> gathers;
  };

  llvm::SmallVector<CollectiveOpInterface> starts();
  void startSums();
  llvm::SmallVector<Unit> units();
  void startGathers();
  void sinkWrites();
  void placeWaits();

  mlir::Block &block;
  int64_t prefetch;
};

} // namespace trainc
