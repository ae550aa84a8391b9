// When the collectives of one entry begin and are waited for.
#pragma once

#include "dialects/Train/Sharding.h"
#include "lib/Analysis/CostModel.h"
#include "lib/Schedule/Messages.h"

#include "llvm/ADT/SetVector.h"

#include <deque>

namespace trainc {

/// A list scheduler for two streams: ops compute in the order in which they stand, and messages run beside
/// them, one at a time. Before each op it starts those that can begin until the op ends, the most urgent
/// first, within the limits of `settings`; see the pass schedule-collectives.
class ListScheduler {
public:
  /// `ranks` is how many train together.
  ListScheduler(mlir::Block &block, const train::ShardingSettings &settings, int64_t ranks,
                const Machine &machine)
      : block(block), settings(settings), ranks(ranks), machine(machine) {}

  void run();

private:
  /// A message and what the scheduler knows of it.
  struct Item {
    Message message;
    double seconds = 0;
    mlir::Operation *known = nullptr;    ///< it can start behind this op, or at the beginning
    mlir::Operation *need = nullptr;     ///< the first op that cannot come before its end, or null
    mlir::Operation *deadline = nullptr; ///< the op by which it should have ended, or null
    mlir::Operation *end = nullptr;      ///< the last op that reads what is gathered, or null
    int64_t elements = 0;
    bool gathersParameters = false;
    llvm::SmallSetVector<Item *, 2> after; ///< what it reads comes from these
    double done = 0;
    bool started = false;
  };

  void collect();
  Item itemOf(const Message &message) const;
  void linkChains();
  void setSumDeadlines();
  void startNeeded(mlir::Operation *op);
  void startUntil(double end, mlir::Operation *op);
  bool maySoonStart(const Item &item, mlir::Operation *op) const;
  bool fitsLimits(const Item &item, mlir::Operation *op) const;
  void start(Item &item, mlir::Operation *op);
  void placeWaits();

  mlir::Block &block;
  const train::ShardingSettings &settings;
  int64_t ranks;
  const Machine &machine;
  std::deque<Item> items;       ///< by deadline
  std::vector<Item *> gathers;  ///< of parameters, by need
  double now = 0, linkFree = 0; ///< seconds of the two streams
};

} // namespace trainc
