// Pass `bucket-collectives`.
#include "lib/Schedule/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Train/Sharding.h"
#include "lib/Schedule/Messages.h"

#include <map>

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_BUCKETCOLLECTIVES
#include "lib/Schedule/Passes.h.inc"

namespace {

/// Of a message, as plans allow.
constexpr size_t kMostStarts = 1024;

/// Puts the collectives of one entry into messages.
class Bucketer {
public:
  Bucketer(Block &block, const train::ShardingSettings &settings) : block(block), settings(settings) {}

  void run() {
    sinkWrites();
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
  /// Kind, group, and whether parameters are gathered to be read.
  using Key = std::tuple<CollectiveKind, RankGroup, bool>;

  /// Writes of gathered states move no byte, and wait until the end, so that no gather is needed before
  /// another begins.
  void sinkWrites() {
    for (auto start : llvm::to_vector(block.getOps<CollectiveOpInterface>()))
      for (Operation *user : waitOf(start)->getUsers())
        if (isa<train::SetOp>(user) && isGather(start))
          user->moveBefore(&block, block.end());
  }

  /// In the order in which they can be started or, where parameters are gathered, are needed.
  std::map<Key, Message> startsByKind() {
    std::map<Key, Message> byKind;
    for (auto start : block.getOps<CollectiveOpInterface>()) {
      const bool reads(gatheredState(start));
      if (!reads || firstRead(start->getResult(0)))
        byKind[{start.getCollectiveKind(), start.getRankGroup(), reads}].push_back(start);
    }
    for (auto &[key, starts] : byKind)
      llvm::sort(starts, [reads = std::get<bool>(key)](auto a, auto b) {
        Operation *first = reads ? firstRead(a->getResult(0)) : known(a->getOperand(0)),
                  *second = reads ? firstRead(b->getResult(0)) : known(b->getOperand(0));
        return first == second ? isBefore(a, b) : isBefore(first, second);
      });
    return byKind;
  }

  static bool haveOneUnit(CollectiveOpInterface a, CollectiveOpInterface b) {
    train::StateOp first = movedState(a), second = movedState(b);
    return first && second && first.getBlocksAttr() == second.getBlocksAttr();
  }

  /// Whether `start` can and should go with `message`.
  bool fits(const Message &message, CollectiveOpInterface start) const {
    const int64_t bucket = isGather(start) ? settings.gatherBucket : settings.reduceBucket;
    int64_t elements = elementsOf(start);
    for (CollectiveOpInterface other : message)
      elements += elementsOf(other);
    if (message.size() == kMostStarts || (!haveOneUnit(message.back(), start) && elements > bucket))
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
  int64_t messages = 0;
};

struct BucketCollectives : impl::BucketCollectivesBase<BucketCollectives> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>()) {
      const train::ShardingSettings settings = train::shardingOf(program);
      for (auto entry : getOperation().getOps<train::EntryOp>())
        Bucketer(entry.getBody().front(), settings).run();
    }
  }
};

} // namespace
} // namespace trainc
