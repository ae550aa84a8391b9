// Pass `schedule-collectives`: a list scheduler over the cost model says when collectives begin and are
// waited for.
#include "dialects/Dist/Dist.h"
#include "dialects/Train/Sharding.h"
#include "lib/Analysis/CostModel.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Codegen/OpCost.h"
#include "lib/Schedule/Messages.h"
#include "lib/Schedule/Passes.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

#include <deque>
#include <set>

using namespace mlir;

namespace trainc {

namespace {

/// A list scheduler for two streams: ops compute in the order in which they stand, and messages run beside
/// them, one at a time. Before each op it starts those that can begin until the op ends, the most urgent
/// first, within the limits of `settings`; see the pass schedule-collectives.
class ListScheduler {
public:
  /// `ranks` is how many train together.
  ListScheduler(Block &block, const train::ShardingSettings &settings, int64_t ranks, codegen::OpCosts &costs)
      : block(block), settings(settings), ranks(ranks), costs(costs) {}

  /// Fails, with an error at an op, where the target cannot execute it.
  LogicalResult run();

private:
  /// A message and what the scheduler knows of it.
  struct Item {
    Message message;
    size_t rank = 0; ///< among all, the most urgent first
    double seconds = 0;
    Operation *known = nullptr;    ///< it can start behind this op, or at the beginning
    Operation *need = nullptr;     ///< the first op that cannot come before its end, or null
    Operation *deadline = nullptr; ///< the op by which it should have ended, or null
    Operation *end = nullptr;      ///< the last op that reads what is gathered, or null
    int64_t elements = 0;
    bool gathersParameters = false;
    llvm::SmallSetVector<Item *, 2> after; ///< what it reads comes from these
    double done = 0;
    bool started = false;
  };
  struct IsMoreUrgent {
    bool operator()(const Item *a, const Item *b) const { return a->rank < b->rank; }
  };

  void collect();
  Item itemOf(const Message &message) const;
  void linkChains();
  void setSumDeadlines();
  void startNeeded(Operation *op);
  void findCandidates(Operation *op);
  void startUntil(double end, Operation *op);
  bool maySoonStart(const Item &item, Operation *op) const;
  bool fitsLimits(const Item &item, Operation *op) const;
  void start(Item &item, Operation *op);
  void bringForward(Value value, Operation *op);
  void placeWaits();
  void movePlacements(Operation *op);

  void number();
  bool stands(Operation *a, Operation *b) const;
  void moveTo(Operation *op, Operation *moved);

  Block &block;
  const train::ShardingSettings &settings;
  int64_t ranks;
  codegen::OpCosts &costs;
  /// Sums over ranks at most: one that runs, and one that waits for its turn. What is summed is freed when
  /// the sum has ended. Where nothing is gathered ahead memory is short, and none waits.
  size_t sumsInFlight = 2;
  std::deque<Item> items;      ///< by deadline
  std::vector<Item *> gathers; ///< of parameters, by need
  std::vector<Item *> others;  ///< those that are no such gathers, by what makes them known
  llvm::DenseMap<Operation *, SmallVector<Item *, 1>> neededBy;
  /// What an op's turn has come to: so many gathers are needed before it, or by then; so many others are
  /// known. They grow from op to op.
  size_t gathersBefore = 0, gathersDue = 0, othersKnown = 0, gathersSeen = 0;
  std::set<Item *, IsMoreUrgent> candidates; ///< those that may start as far as their turn is concerned
  std::vector<Item *> live;                  ///< gathers that have started and are still read
  double now = 0, linkFree = 0;              ///< seconds of the two streams
  /// Where ops stand: even numbers, and for what moves in front of one the number before. To ask the block
  /// would number all its ops again after each move.
  llvm::DenseMap<Operation *, uint64_t> places;
};

} // namespace

void ListScheduler::number() {
  places.clear();
  for (Operation &op : block)
    places[&op] = 2 * places.size() + 2;
}

/// As isBefore().
bool ListScheduler::stands(Operation *a, Operation *b) const {
  return a != b && b && (!a || places.lookup(a) < places.lookup(b));
}

/// Puts `moved` in front of `op`, or at the end for null.
void ListScheduler::moveTo(Operation *op, Operation *moved) {
  op ? moved->moveBefore(op) : moved->moveBefore(&block, block.end());
  const uint64_t place = op ? places.lookup(op) : UINT64_MAX;
  places[moved] = place % 2 == 0 ? place - 1 : place;
}

LogicalResult ListScheduler::run() {
  collect();
  number();
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (computes(&op))
      ops.push_back(&op);
  for (Operation *op : ops) {
    startNeeded(op);
    const FailureOr<double> takes = costs.seconds(*op);
    if (failed(takes))
      return failure();
    const double end = now + *takes;
    startUntil(end, op);
    now = end;
  }
  for (Item &item : items)
    start(item, nullptr);
  placeWaits();
  raiseStores(block);
  return success();
}

// --- What there is to start ---

ListScheduler::Item ListScheduler::itemOf(const Message &message) const {
  Item item;
  item.message = message;
  CollectiveOpInterface first = message.front();
  const RankGroupShape group = shapeOf(first.getRankGroup(), ranks, settings.shardRanks);
  const bool allReduces = first.getCollectiveKind() == CollectiveKind::all_reduce;
  int64_t bytes = 0;
  for (CollectiveOpInterface start : message) {
    Value sent = start->getOperand(0), result = start->getResult(0);
    const Type element = cast<RankedTensorType>(sent.getType()).getElementType();
    item.elements += elementsOf(start);
    bytes += ringBytes(allReduces, elementsOf(start) * elementBytes(element), group.members);
    item.known = later(item.known, known(sent));
    item.need = earlier(item.need, need(result));
    item.end = later(item.end, lastRead(result));
  }
  item.deadline = item.need;
  item.gathersParameters = gatheredState(message.front()) && item.need;
  item.seconds = collectiveSeconds(group, allReduces, double(bytes), costs.machine());
  return item;
}

void ListScheduler::collect() {
  for (const Message &message : messagesOf(block))
    items.push_back(itemOf(message));
  const bool gathersAny = llvm::any_of(items, [](const Item &item) { return item.gathersParameters; });
  sumsInFlight = settings.prefetch == 0 && gathersAny ? 1 : 2;
  setSumDeadlines();
  llvm::sort(items, [](const Item &a, const Item &b) {
    return a.deadline == b.deadline ? isBefore(a.message.front(), b.message.front())
                                    : a.deadline && (!b.deadline || isBefore(a.deadline, b.deadline));
  });
  linkChains();
  for (auto [rank, item] : llvm::enumerate(items)) {
    item.rank = rank;
    neededBy[item.need].push_back(&item);
    (item.gathersParameters ? gathers : others).push_back(&item);
  }
  llvm::sort(others, [](Item *a, Item *b) {
    return a->known == b->known ? a->rank < b->rank : isBefore(a->known, b->known);
  });
}

/// A sum is urgent once as many others are known as may be in flight.
void ListScheduler::setSumDeadlines() {
  SmallVector<Item *> sums;
  for (Item &item : items)
    if (!isGather(item.message.front()))
      sums.push_back(&item);
  llvm::sort(sums, [](Item *a, Item *b) {
    return a->known == b->known ? isBefore(a->message.front(), b->message.front())
                                : isBefore(a->known, b->known);
  });
  for (size_t i = 0; i + sumsInFlight < sums.size(); ++i)
    sums[i]->deadline = earlier(sums[i]->deadline, sums[i + sumsInFlight]->known);
}

/// Collectives of what others make.
void ListScheduler::linkChains() {
  llvm::DenseMap<Operation *, Item *> itemOfStart;
  for (Item &item : items)
    for (CollectiveOpInterface start : item.message)
      itemOfStart[start] = &item;
  for (Item &item : items)
    for (CollectiveOpInterface start : item.message)
      for (Operation *before : startsBehind(start->getOperand(0)))
        item.after.insert(itemOfStart.lookup(before));
}

// --- Starts ---

/// Adds the messages whose turn comes with the op.
void ListScheduler::findCandidates(Operation *op) {
  const auto advance = [&](size_t &count, const std::vector<Item *> &all, auto &&isPast) {
    while (count < all.size() && isPast(*all[count]))
      ++count;
  };
  advance(gathersBefore, gathers, [&](const Item &item) { return stands(item.need, op); });
  advance(gathersDue, gathers, [&](const Item &item) { return !stands(op, item.need); });
  for (; gathersSeen < std::min(gathersDue + size_t(settings.prefetch), gathers.size()); ++gathersSeen)
    candidates.insert(gathers[gathersSeen]);
  const size_t knownBefore = othersKnown;
  advance(othersKnown, others, [&](const Item &item) { return stands(item.known, op); });
  candidates.insert(others.begin() + knownBefore, others.begin() + othersKnown);
  llvm::erase_if(live, [&](const Item *item) { return stands(item->end, op); });
}

/// Those that can begin until the op's end.
void ListScheduler::startUntil(double end, Operation *op) {
  findCandidates(op);
  for (auto next = candidates.begin(); next != candidates.end() && std::max(linkFree, now) <= end;) {
    Item &item = **next;
    if (!item.started && maySoonStart(item, op))
      start(item, op);
    next = item.started ? candidates.erase(next) : std::next(next);
  }
}

/// Whether all that the message reads is there, and there is room for what it makes.
bool ListScheduler::maySoonStart(const Item &item, Operation *op) const {
  const bool chained =
      llvm::any_of(item.after, [&](const Item *before) { return !before->started || before->done > now; });
  return !chained && stands(item.known, op) && (!item.gathersParameters || fitsLimits(item, op));
}

/// Gathers in flight have been needed by no op before this one.
bool ListScheduler::fitsLimits(const Item &item, Operation *op) const {
  const auto inFlight = std::count_if(gathers.begin() + gathersBefore, gathers.begin() + gathersSeen,
                                      [](const Item *gather) { return gather->started; });
  int64_t elements = item.elements;
  for (const Item *gather : live)
    elements += gather->elements;
  return inFlight < settings.gathersInFlight && elements <= settings.maxLive;
}

/// What the op reads must have been started, whatever the limits.
void ListScheduler::startNeeded(Operation *op) {
  for (Item *item : neededBy.lookup(op)) {
    start(*item, op);
    now = std::max(now, item->done);
  }
}

/// Puts what `value` is made of by name or cast from, without time of its own, in front of `op`, or at the
/// end for null, where it does not stand there already.
void ListScheduler::bringForward(Value value, Operation *op) {
  Operation *definition = value.getDefiningOp();
  const bool follows =
      definition && (isa<train::GetOp>(definition) || isView(definition) || isCastToGather(definition));
  if (!follows || (op && stands(definition, op)))
    return;
  for (Value operand : definition->getOperands())
    bringForward(operand, op);
  moveTo(op, definition);
}

/// Puts the message's starts, and what they need just before, in front of `op`, or at the end for null; those
/// that it comes after first.
void ListScheduler::start(Item &item, Operation *op) {
  if (item.started)
    return;
  for (Item *before : item.after)
    start(*before, op);
  for (CollectiveOpInterface start : item.message) {
    const Value operand = start->getOperand(0);
    bringForward(operand, op);
    if (Operation *pack = operand.getDefiningOp(); pack && isPack(pack))
      moveTo(op, pack); // it takes memory from there on
  }
  for (CollectiveOpInterface start : item.message)
    moveTo(op, start);
  linkFree = std::max(linkFree, now) + item.seconds;
  item.done = linkFree;
  item.started = true;
  if (item.gathersParameters)
    live.push_back(&item);
}

// --- Waits ---

/// Moves what names places in the op's value to behind it, where it stands before, or is all that a rank
/// needs of it.
void ListScheduler::movePlacements(Operation *op) {
  for (Operation *user : op->getResult(0).getUsers())
    if (isPartOfRank(user) || (isView(user) && stands(user, op))) {
      user->moveAfter(op);
      places[user] = places.lookup(op);
      movePlacements(user);
    }
}

/// Where at most `inFlight` of the collectives that begin later, the last first, have begun; null for the
/// end.
static Operation *beforeMoreThan(size_t inFlight, ArrayRef<Operation *> later) {
  return later.size() < inFlight ? nullptr : later[later.size() - inFlight];
}

/// In the order of starts, as a later one would wait for what is known to be done; and no later than where
/// too many sums would be in flight.
void ListScheduler::placeWaits() {
  SmallVector<Operation *> laterSums;
  Operation *next = nullptr; // the first wait of the next message
  number();
  const auto firstOf = [&](Operation *a, Operation *b) { return !a || (b && stands(b, a)) ? b : a; };
  const SmallVector<Message> messages = messagesOf(block);
  llvm::DenseMap<Operation *, Operation *> firstStart; // of the message of each start: they stay together
  llvm::DenseMap<Operation *, Operation *> reads;      // of what each start brings, before anything moves
  for (const Message &message : messages)
    for (CollectiveOpInterface start : message) {
      firstStart[start] = message.front();
      reads[start] = firstRead(start->getResult(0));
    }
  for (const Message &message : llvm::reverse(messages)) {
    Operation *place = next;
    for (CollectiveOpInterface start : message) {
      Operation *read = reads.lookup(start);
      place = firstOf(place, firstStart.lookup_or(read, read));
    }
    if (!isGather(message.front())) {
      place = firstOf(place, beforeMoreThan(sumsInFlight, laterSums));
      laterSums.push_back(message.front());
    }
    for (CollectiveOpInterface start : message) {
      Operation *wait = waitOf(start);
      moveTo(place, wait);
      movePlacements(wait);
    }
    next = waitOf(message.front());
  }
}

// --- The pass ---

#define GEN_PASS_DEF_SCHEDULECOLLECTIVES
#include "lib/Schedule/Passes.h.inc"

namespace {

struct ScheduleCollectives : impl::ScheduleCollectivesBase<ScheduleCollectives> {
  ScheduleCollectives() = default;
  explicit ScheduleCollectives(std::shared_ptr<codegen::Summaries> summaries)
      : summaries_(std::move(summaries)) {}
  void runOnOperation() override {
    const std::unique_ptr<codegen::Target> target = codegen::Target::chosenFor(getOperation());
    for (auto program : getOperation().getOps<train::ProgramOp>()) {
      codegen::OpCosts costs(*target, int64_t(program.getRanks()), summaries_);
      const train::ShardingSettings settings = train::shardingOf(program);
      for (auto entry : getOperation().getOps<train::EntryOp>()) {
        const StateOrder order(entry.getBody().front());
        ListScheduler scheduler(entry.getBody().front(), settings, int64_t(program.getRanks()), costs);
        if (failed(scheduler.run()) || failed(order.requireKept()))
          return signalPassFailure();
      }
    }
  }

private:
  std::shared_ptr<codegen::Summaries> summaries_ = std::make_shared<codegen::Summaries>();
};

} // namespace

std::unique_ptr<Pass> createScheduleCollectives(std::shared_ptr<codegen::Summaries> summaries) {
  return std::make_unique<ScheduleCollectives>(std::move(summaries));
}

} // namespace trainc
