// Pass `schedule-collectives`: a list scheduler over the cost model that places starts and waits of
// collectives.
#include "dialects/Dist/Dist.h"
#include "dialects/Train/Sharding.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Codegen/OpCost.h"
#include "lib/Plan/SchemaEnums.h"
#include "lib/Schedule/Messages.h"
#include "lib/Schedule/Passes.h"
#include "lib/Support/StoredElement.h"
#include "lib/Support/UseOrder.h"
#include "plan/facts/collective.h"
#include "plan/settings/settings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

#include <deque>
#include <set>

using namespace mlir;

namespace trainc {

namespace {

/// A list scheduler for two streams. Ops compute in their present order, and messages run concurrently, one
/// at a time. Before each op it starts the messages that can begin before the op ends, the most urgent first,
/// within the limits of `settings`; see the pass schedule-collectives.
class ListScheduler {
public:
  ListScheduler(Block &block, const train::ShardingSettings &settings, const Mesh &mesh,
                codegen::OpCosts &costs)
      : block(block), settings(settings), mesh(mesh), costs(costs) {}

  /// Fails with an error at an op that the target cannot execute.
  LogicalResult run();

private:
  /// Scheduling data of a message.
  struct Item {
    Message message;
    size_t rank = 0; ///< urgency among all, 0 for the most urgent
    double seconds = 0;
    Operation *known = nullptr; ///< last op before which it cannot start; null: it can start at the beginning
    Operation *need = nullptr;  ///< first op that depends on it; null if there is none
    Operation *deadline = nullptr; ///< op by which it should have ended; null if there is none
    Operation *end = nullptr;      ///< last op that reads gathered values; null if there is none
    int64_t elements = 0;
    bool gathersParameters = false;
    llvm::SmallSetVector<Item *, 2> after; ///< messages on whose results it depends
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
  bool precedes(Operation *a, Operation *b) const;
  void moveTo(Operation *op, Operation *moved);

  Block &block;
  const train::ShardingSettings &settings;
  const Mesh &mesh;
  codegen::OpCosts &costs;
  /// Maximum number of sums over ranks in flight: one that runs and one that is queued. The operand of a sum
  /// is freed when the sum has ended. Without prefetching memory is scarce, and none is queued.
  size_t sumsInFlight = 2;
  std::deque<Item> items;      ///< by deadline
  std::vector<Item *> gathers; ///< of parameters, by need
  std::vector<Item *> others;  ///< all other messages, by the op that makes them known
  llvm::DenseMap<Operation *, SmallVector<Item *, 1>> neededBy;
  /// Counts up to the current op: gathers needed before it, gathers due, and other messages whose operands
  /// are known.
  size_t gathersBefore = 0, gathersDue = 0, othersKnown = 0, gathersSeen = 0;
  std::set<Item *, IsMoreUrgent> candidates; ///< messages whose turn has come
  std::vector<Item *> live;                  ///< started gathers that are still read
  double now = 0, linkFree = 0; ///< current time in seconds of the compute stream and of the link
  /// Positions of ops: even numbers, and the odd number before for ops that move before an op. Asking the
  /// block would renumber its ops after each move.
  llvm::DenseMap<Operation *, uint64_t> places;
};

} // namespace

void ListScheduler::number() {
  places.clear();
  for (Operation &op : block)
    places[&op] = 2 * places.size() + 2;
}

/// Like isBefore(), by `places`.
bool ListScheduler::precedes(Operation *a, Operation *b) const {
  return a != b && b && (!a || places.lookup(a) < places.lookup(b));
}

/// Moves `moved` before `op`; to the end if `op` is null.
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
  const RankGroupShape group = dist::shapeOf(mesh, first.getAxesAttr());
  const uint32_t rounds = traitsOf(inSchema(first.getCollectiveKind())).rounds;
  int64_t bytes = 0;
  for (CollectiveOpInterface start : message) {
    Value sent = start->getOperand(0), result = start->getResult(0);
    const Type element = cast<RankedTensorType>(sent.getType()).getElementType();
    item.elements += elementsOf(start);
    bytes += ringBytes(rounds, elementsOf(start) * elementBytes(element), group.members);
    item.known = later(item.known, known(sent));
    item.need = earlier(item.need, need(result));
    item.end = later(item.end, lastRead(result));
  }
  item.deadline = item.need;
  item.gathersParameters = gatheredState(message.front()) && item.need;
  item.seconds = collectiveSeconds(group, rounds, double(bytes), costs.machine());
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

/// A sum becomes urgent when as many later sums are known as may be in flight.
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

/// Links messages that depend on the results of other messages.
void ListScheduler::linkChains() {
  llvm::DenseMap<Operation *, Item *> itemOfStart;
  for (Item &item : items)
    for (CollectiveOpInterface start : item.message)
      itemOfStart[start] = &item;
  for (Item &item : items)
    for (CollectiveOpInterface start : item.message)
      for (Operation *before : sourceStarts(start->getOperand(0)))
        item.after.insert(itemOfStart.lookup(before));
}

// --- Starts ---

/// Adds the messages whose turn comes with the op.
void ListScheduler::findCandidates(Operation *op) {
  const auto advance = [&](size_t &count, const std::vector<Item *> &all, auto &&isPast) {
    while (count < all.size() && isPast(*all[count]))
      ++count;
  };
  advance(gathersBefore, gathers, [&](const Item &item) { return precedes(item.need, op); });
  advance(gathersDue, gathers, [&](const Item &item) { return !precedes(op, item.need); });
  for (; gathersSeen < std::min(gathersDue + size_t(settings.prefetch), gathers.size()); ++gathersSeen)
    candidates.insert(gathers[gathersSeen]);
  const size_t knownBefore = othersKnown;
  advance(othersKnown, others, [&](const Item &item) { return precedes(item.known, op); });
  candidates.insert(others.begin() + knownBefore, others.begin() + othersKnown);
  llvm::erase_if(live, [&](const Item *item) { return precedes(item->end, op); });
}

/// Starts messages that can begin before the op's end.
void ListScheduler::startUntil(double end, Operation *op) {
  findCandidates(op);
  for (auto next = candidates.begin(); next != candidates.end() && std::max(linkFree, now) <= end;) {
    Item &item = **next;
    if (!item.started && maySoonStart(item, op))
      start(item, op);
    next = item.started ? candidates.erase(next) : std::next(next);
  }
}

/// Whether all operands of the message are known, and limits allow its result.
bool ListScheduler::maySoonStart(const Item &item, Operation *op) const {
  const bool chained =
      llvm::any_of(item.after, [&](const Item *before) { return !before->started || before->done > now; });
  return !chained && precedes(item.known, op) && (!item.gathersParameters || fitsLimits(item, op));
}

/// Gathers in flight are those that no earlier op has needed.
bool ListScheduler::fitsLimits(const Item &item, Operation *op) const {
  const auto inFlight = std::count_if(gathers.begin() + gathersBefore, gathers.begin() + gathersSeen,
                                      [](const Item *gather) { return gather->started; });
  int64_t elements = item.elements;
  for (const Item *gather : live)
    elements += gather->elements;
  return inFlight < settings.gathersInFlight && elements <= settings.maxLive;
}

/// Starts the messages that the op reads, regardless of limits.
void ListScheduler::startNeeded(Operation *op) {
  for (Item *item : neededBy.lookup(op)) {
    start(*item, op);
    now = std::max(now, item->done);
  }
}

/// Moves the ops without duration that `value` depends on (reads, views, casts) before `op`, or to the end if
/// `op` is null, unless they precede it already.
void ListScheduler::bringForward(Value value, Operation *op) {
  Operation *definition = value.getDefiningOp();
  const bool follows =
      definition && (isa<train::GetOp>(definition) || isView(definition) || isCastToGather(definition));
  if (!follows || (op && precedes(definition, op)))
    return;
  for (Value operand : definition->getOperands())
    bringForward(operand, op);
  moveTo(op, definition);
}

/// Moves the message's starts and the ops that they need before `op`, or to the end if `op` is null; messages
/// that it depends on come first.
void ListScheduler::start(Item &item, Operation *op) {
  if (item.started)
    return;
  for (Item *before : item.after)
    start(*before, op);
  for (CollectiveOpInterface start : item.message) {
    const Value operand = start->getOperand(0);
    bringForward(operand, op);
    if (Operation *pack = operand.getDefiningOp(); pack && isPack(pack))
      moveTo(op, pack); // the packed tensor occupies memory from here on
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

/// Moves views of the op's value after the op if they precede it, or if they are the rank's shard.
void ListScheduler::movePlacements(Operation *op) {
  llvm::SmallSetVector<Operation *, 4> found;
  for (Operation *user : op->getResult(0).getUsers())
    if (isShardOfRank(user) || isView(user))
      found.insert(user);
  SmallVector<Operation *> users = found.takeVector();
  // From the last to the first. MLIR renumbers a block after each move, so `places` is compared first; views
  // of one op share a place.
  llvm::sort(users, [&](Operation *a, Operation *b) {
    const uint64_t first = places.lookup(a), second = places.lookup(b);
    return first != second ? first > second : a != b && comesBefore(b, a);
  });
  for (Operation *user : users)
    if (isShardOfRank(user) || precedes(user, op)) {
      user->moveAfter(op);
      places[user] = places.lookup(op);
      movePlacements(user);
    }
}

/// Returns the latest op at which at most `inFlight` of the collectives in `later`, ordered from the last to
/// the first, have started; null for the end.
static Operation *beforeMoreThan(size_t inFlight, ArrayRef<Operation *> later) {
  return later.size() < inFlight ? nullptr : later[later.size() - inFlight];
}

/// Places waits in the order of starts, because an earlier message has completed anyway when a later one has,
/// and before too many sums are in flight.
void ListScheduler::placeWaits() {
  SmallVector<Operation *> laterSums;
  Operation *next = nullptr; // first wait of the next message
  number();
  const auto firstOf = [&](Operation *a, Operation *b) { return !a || (b && precedes(b, a)) ? b : a; };
  const SmallVector<Message> messages = messagesOf(block);
  llvm::DenseMap<Operation *, Operation *>
      firstStart; // first start of each start's message; starts of a message are adjacent
  llvm::DenseMap<Operation *, Operation *>
      reads; // first read of each start's result, determined before anything moves
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
    const Mesh mesh = dist::meshOf(getOperation());
    for (auto program : getOperation().getOps<train::ProgramOp>()) {
      codegen::OpCosts costs(*target, train::kRanks.of(program), summaries_);
      const train::ShardingSettings settings = train::shardingOf(program);
      for (auto entry : getOperation().getOps<train::EntryOp>()) {
        const WritesBefore writes(entry.getBody().front());
        ListScheduler scheduler(entry.getBody().front(), settings, mesh, costs);
        if (failed(scheduler.run()) || failed(writes.requireKept()))
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
