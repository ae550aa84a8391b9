// When the collectives of one entry begin and are waited for.
#pragma once

#include "dialects/Train/Sharding.h"
#include "lib/Analysis/CostModel.h"
#include "lib/Schedule/Messages.h"

#include <deque>

namespace trainc {

/// A list scheduler for two streams: ops compute in the order in which they stand, and messages run beside
/// them, one at a time. Before each op it starts those that can begin until the op ends, the most urgent
/// first, within the limits of `settings`; see the pass schedule-collectives.
class ListScheduler {
public:
  ListScheduler(mlir::Block &block, const train::ShardingSettings &settings, const Machine &machine)
      : block(block), settings(settings), machine(machine) {}

  void run();

private:
  /// A message and what the scheduler knows of it.
  struct Item {
    Message message;
    double seconds;
    mlir::Operation *known;    ///< it can start behind this op
    mlir::Operation *need;     ///< the first op that cannot come before its end, or null
    mlir::Operation *deadline; ///< the op by which it should have ended, or null
    mlir::Operation *end;      ///< the last op that reads what is gathered, or null
    int64_t elements = 0;
    bool gathersParameters = false;
    Item *after = nullptr; ///< ends before this starts
    double done = 0;
    bool started = false;
  };

  void collect();
  Item itemOf(const Message &message) const;
  void linkChains();
  void setSumDeadlines();
  void startNeeded(mlir::Operation *op);
  void startMeanwhile(mlir::Operation *op);
  bool maySoonStart(const Item &item, mlir::Operation *op) const;
  bool fitsLimits(const Item &item, mlir::Operation *op) const;
  void start(Item &item, mlir::Operation *op);
  void placeWaits();

  mlir::Block &block;
  const train::ShardingSettings &settings;
  const Machine &machine;
  std::deque<Item> items;       ///< by deadline
  std::vector<Item *> gathers;  ///< of parameters, by need
  double now = 0, linkFree = 0; ///< seconds of the two streams
};

} // namespace trainc
