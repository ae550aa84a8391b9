// Pass `bucket-collectives`.
#include "lib/Schedule/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Train/Sharding.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Schedule/Messages.h"
#include "plan/schema/limits.h"

#include <map>

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_BUCKETCOLLECTIVES
#include "lib/Schedule/Passes.h.inc"

namespace {

/// Puts the collectives of one entry into messages.
class Bucketer {
public:
  Bucketer(Block &block, const train::ShardingSettings &settings, const Mesh &mesh)
      : block(block), settings(settings), mesh(mesh) {}

  void run() {
    sinkStores(block);
    for (auto &[key, starts] : startsByKind()) {
      Message message;
      for (CollectiveOpInterface start : starts) {
        if (!message.empty() && !fits(message, start))
          finish(message);
        message.push_back(start);
      }
      finish(message);
    }
  }

private:
  /// Kind, axes, whether parameters are gathered for reading, and the number of collectives that the start
  /// depends on in sequence, so that messages cannot depend on each other.
  using Key = std::tuple<CollectiveKind, Axes, bool, size_t>;

  /// Gathers of parameters are in the order of their first reads, others in the order in which they can
  /// start.
  std::map<Key, Message> startsByKind() {
    std::map<Key, Message> byKind;
    for (auto start : block.getOps<CollectiveOpInterface>()) {
      const bool reads(gatheredState(start));
      if (!reads || firstRead(start->getResult(0)))
        byKind[{start.getCollectiveKind(), *dist::findAxes(mesh, start.getAxesAttr()), reads,
                chainLength(start)}]
            .push_back(start);
    }
    for (auto &[key, starts] : byKind) {
      llvm::DenseMap<Operation *, Operation *> places;
      for (CollectiveOpInterface start : starts)
        places[start] = std::get<bool>(key) ? firstRead(start->getResult(0)) : known(start->getOperand(0));
      llvm::sort(starts, [&](auto a, auto b) {
        Operation *first = places.lookup(a), *second = places.lookup(b);
        return first == second ? isBefore(a, b) : isBefore(first, second);
      });
    }
    return byKind;
  }

  static size_t chainLength(CollectiveOpInterface start) {
    size_t maximum = 0;
    for (Operation *before : sourceStarts(start->getOperand(0)))
      maximum = std::max(maximum, 1 + chainLength(cast<CollectiveOpInterface>(before)));
    return maximum;
  }

  static bool haveOneUnit(CollectiveOpInterface a, CollectiveOpInterface b) {
    train::StateOp first = movedState(a), second = movedState(b);
    return first && second && first.getBlocksAttr() == second.getBlocksAttr();
  }

  /// Whether `start` can and should join `message`.
  bool fits(const Message &message, CollectiveOpInterface start) const {
    const int64_t bucket = isGather(start) ? settings.gatherBucket : settings.reduceBucket;
    int64_t elements = elementsOf(start);
    for (CollectiveOpInterface other : message)
      elements += elementsOf(other);
    if (message.size() == kMaxRanges || (!haveOneUnit(message.back(), start) && elements > bucket))
      return false;
    Operation *last = known(start->getOperand(0));
    return llvm::all_of(message, [&](CollectiveOpInterface other) {
      Operation *first = need(other->getResult(0));
      return !first || isBefore(last, first);
    });
  }

  void finish(Message &message) {
    if (message.size() > 1) {
      for (CollectiveOpInterface start : message)
        start.setMessageAttr(Builder(start->getContext()).getI64IntegerAttr(messages));
      ++messages;
    }
    message.clear();
  }

  Block &block;
  const train::ShardingSettings &settings;
  const Mesh &mesh;
  int64_t messages = 0;
};

struct BucketCollectives : impl::BucketCollectivesBase<BucketCollectives> {
  void runOnOperation() override {
    const Mesh mesh = dist::meshOf(getOperation());
    for (auto program : getOperation().getOps<train::ProgramOp>()) {
      const train::ShardingSettings settings = train::shardingOf(program);
      for (auto entry : getOperation().getOps<train::EntryOp>()) {
        const WritesBefore writes(entry.getBody().front());
        Bucketer(entry.getBody().front(), settings, mesh).run();
        if (failed(writes.requireKept()))
          signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace trainc
