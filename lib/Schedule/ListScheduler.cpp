#include "lib/Schedule/ListScheduler.h"
#include "lib/Schedule/Stores.h"
#include "lib/Support/StoredElement.h"

using namespace mlir;

namespace trainc {

/// Sums over ranks in flight at most: one that runs, and one that waits for its turn. What is summed is freed
/// when the sum has ended.
static constexpr size_t kSumsInFlight = 2;

void ListScheduler::run() {
  collect();
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (computes(&op))
      ops.push_back(&op);
  for (Operation *op : ops) {
    startNeeded(op);
    const double end = now + computeSeconds(*op, machine);
    startUntil(end, op);
    now = end;
  }
  for (Item &item : items)
    start(item, nullptr);
  placeWaits();
  raiseStores(block);
}

// --- What there is to start ---

ListScheduler::Item ListScheduler::itemOf(const Message &message) const {
  Item item;
  item.message = message;
  int64_t bytes = 0;
  for (CollectiveOpInterface start : message) {
    Value result = start->getResult(0);
    const Type element = cast<RankedTensorType>(result.getType()).getElementType();
    item.elements += elementsOf(start);
    bytes += ringBytes(start.getCollectiveKind(), elementsOf(start) * elementBytes(element),
                       ranksOf(start.getRankGroup(), ranks, settings.shardRanks));
    item.known = later(item.known, known(start->getOperand(0)));
    item.need = earlier(item.need, need(result));
    item.end = later(item.end, lastRead(result));
  }
  item.deadline = item.need;
  item.gathersParameters = gatheredState(message.front()) && item.need;
  item.seconds = collectiveSeconds(double(bytes), machine);
  return item;
}

void ListScheduler::collect() {
  for (const Message &message : messagesOf(block))
    items.push_back(itemOf(message));
  setSumDeadlines();
  llvm::sort(items, [](const Item &a, const Item &b) {
    return a.deadline == b.deadline ? isBefore(a.message.front(), b.message.front())
                                    : a.deadline && (!b.deadline || isBefore(a.deadline, b.deadline));
  });
  linkChains();
  for (Item &item : items)
    if (item.gathersParameters)
      gathers.push_back(&item);
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
  for (size_t i = 0; i + kSumsInFlight < sums.size(); ++i)
    sums[i]->deadline = earlier(sums[i]->deadline, sums[i + kSumsInFlight]->known);
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

/// Those that can begin until the op's end.
void ListScheduler::startUntil(double end, Operation *op) {
  for (Item &item : items)
    if (!item.started && std::max(linkFree, now) <= end && maySoonStart(item, op))
      start(item, op);
}

/// Whether all that the message reads is there, and there is room for what it makes.
bool ListScheduler::maySoonStart(const Item &item, Operation *op) const {
  const bool chained =
      llvm::any_of(item.after, [&](const Item *before) { return !before->started || before->done > now; });
  return !chained && isBefore(item.known, op) && (!item.gathersParameters || fitsLimits(item, op));
}

bool ListScheduler::fitsLimits(const Item &item, Operation *op) const {
  int64_t index = 0, current = -1, inFlight = 0, live = 0;
  for (auto [i, gather] : llvm::enumerate(gathers)) {
    if (gather == &item)
      index = int64_t(i);
    if (!isBefore(op, gather->need))
      current = int64_t(i);
    inFlight += gather->started && !isBefore(gather->need, op);
    live += gather->started && !isBefore(gather->end, op) ? gather->elements : 0;
  }
  return index <= current + settings.prefetch && inFlight < settings.gathersInFlight &&
         live + item.elements <= settings.maxLive;
}

/// What the op reads must have been started, whatever the limits.
void ListScheduler::startNeeded(Operation *op) {
  for (Item &item : items)
    if (item.need == op) {
      start(item, op);
      now = std::max(now, item.done);
    }
}

/// Puts `moved` in front of `op`, or at the end for null.
static void moveTo(Operation *op, Operation *moved, Block &block) {
  op ? moved->moveBefore(op) : moved->moveBefore(&block, block.end());
}

/// Puts what `value` is made of by name, without computing, in front of `op`, or at the end for null, where
/// it does not stand there already.
static void bringForward(Value value, Operation *op, Block &block) {
  Operation *definition = value.getDefiningOp();
  const bool named = definition && (isa<train::GetOp>(definition) || isView(definition));
  if (!named || (op && definition->isBeforeInBlock(op)))
    return;
  for (Value operand : definition->getOperands())
    bringForward(operand, op, block);
  moveTo(op, definition, block);
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
    bringForward(operand, op, block);
    if (Operation *pack = operand.getDefiningOp(); pack && isPack(pack))
      moveTo(op, pack, block); // it takes memory from there on
  }
  for (CollectiveOpInterface start : item.message)
    moveTo(op, start, block);
  linkFree = std::max(linkFree, now) + item.seconds;
  item.done = linkFree;
  item.started = true;
}

// --- Waits ---

/// Moves what names places in the op's value to behind it, where it stands before, or is all that a rank
/// needs of it.
static void movePlacements(Operation *op) {
  for (Operation *user : op->getResult(0).getUsers())
    if (isPartOfRank(user) || (isView(user) && user->isBeforeInBlock(op))) {
      user->moveAfter(op);
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
  const SmallVector<Message> messages = messagesOf(block);
  for (const Message &message : llvm::reverse(messages)) {
    Operation *place = next;
    for (CollectiveOpInterface start : message)
      place = earlier(place, firstRead(start->getResult(0)));
    if (!isGather(message.front())) {
      place = earlier(place, beforeMoreThan(kSumsInFlight, laterSums));
      laterSums.push_back(message.front());
    }
    for (CollectiveOpInterface start : message) {
      Operation *wait = waitOf(start);
      moveTo(place, wait, block);
      movePlacements(wait);
    }
    next = waitOf(message.front());
  }
}

} // namespace trainc
