#include "lib/Schedule/CollectiveOrder.h"

using namespace mlir;
using namespace trainc;

/// Sums over ranks in flight at most: one that runs, and one that waits for its turn.
static constexpr size_t kSumsInFlight = 2;

static Operation *waitOf(CollectiveOpInterface start) { return *start->getResult(0).getUsers().begin(); }

static bool isGather(CollectiveOpInterface start) {
  return start.getCollectiveKind() == CollectiveKind::AllGather;
}

static bool isBefore(Operation *a, Operation *b) { return a != b && a->isBeforeInBlock(b); }

static Operation *earlier(Operation *a, Operation *b) { return !a || (b && b->isBeforeInBlock(a)) ? b : a; }

static bool isPack(Operation *op) {
  auto executable = dyn_cast_or_null<ExecutableOpInterface>(op);
  return executable && executable.getKernelClass() == KernelClass::Pack;
}

/// The first op that reads `value`, or a value that has its bytes; null if none does.
static Operation *firstRead(Value value) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers())
    first = earlier(first, isPlacement(user) ? firstRead(user->getResult(0)) : user);
  return first;
}

SmallVector<CollectiveOpInterface> CollectiveOrder::starts() {
  return llvm::to_vector(block.getOps<CollectiveOpInterface>());
}

void CollectiveOrder::run() {
  startSums();
  startGathers();
  sinkWrites();
  placeWaits();
}

//===-- Starts
//--------------------------------------------------------------------------------------------===//

/// Moves `op` to behind the last of what it reads, or to the beginning.
static void moveToOperands(Operation *op, Block &block) {
  Operation *last = nullptr;
  for (Value operand : op->getOperands())
    if (Operation *definition = operand.getDefiningOp();
        definition && (!last || last->isBeforeInBlock(definition)))
      last = definition;
  if (last)
    op->moveAfter(last);
  else
    op->moveBefore(&block, block.begin());
}

void CollectiveOrder::startSums() {
  for (CollectiveOpInterface start : starts()) {
    if (isGather(start))
      continue;
    if (Operation *packed = start->getOperand(0).getDefiningOp(); isPack(packed))
      moveToOperands(packed, block);
    moveToOperands(start, block);
  }
}

/// The unit whose parameters are gathered; null where it is something else.
static train::StateOp gatheredState(CollectiveOpInterface start) {
  auto get = start->getOperand(0).getDefiningOp<train::GetOp>();
  auto state = get ? SymbolTable::lookupNearestSymbolFrom<train::StateOp>(get, get.getStateAttr()) : nullptr;
  return state && state.getRole() == train::Role::parameter ? state : nullptr;
}

SmallVector<CollectiveOrder::Unit> CollectiveOrder::units() {
  SmallVector<std::pair<Operation *, CollectiveOpInterface>> gathers;
  for (CollectiveOpInterface start : starts())
    if (isGather(start) && gatheredState(start))
      if (Operation *read = firstRead(start->getResult(0)))
        gathers.push_back({read, start});
  llvm::sort(gathers, [](auto &a, auto &b) {
    return a.first == b.first ? isBefore(a.second, b.second) : isBefore(a.first, b.first);
  });
  SmallVector<Unit> units;
  for (auto [read, start] : gathers) {
    Attribute name = gatheredState(start).getBlocksAttr();
    if (units.empty() || units.back().name != name)
      units.push_back({name, read, {}});
    units.back().gathers.push_back(start);
  }
  return units;
}

/// Whether the state that `get` reads is written before it, but not before `place`.
static bool isWrittenBetween(Operation *place, train::GetOp get) {
  return llvm::any_of(get->getBlock()->getOps<train::SetOp>(), [&](train::SetOp set) {
    return set.getState() == get.getState() && isBefore(place, set) && isBefore(set, get);
  });
}

/// Before the first read of an earlier unit; the earliest ones at the beginning.
void CollectiveOrder::startGathers() {
  SmallVector<Unit> all = units();
  for (auto [index, unit] : llvm::enumerate(all)) {
    const bool first = int64_t(index) < prefetch;
    Operation *place = all[first ? 0 : int64_t(index) - prefetch].firstRead;
    for (CollectiveOpInterface start : unit.gathers) {
      auto part = start->getOperand(0).getDefiningOp<train::GetOp>();
      if (isWrittenBetween(place, part))
        continue;
      if (isBefore(place, part))
        part->moveBefore(place);
      start->moveBefore(place);
    }
  }
}

//===-- Waits
//---------------------------------------------------------------------------------------------===//

/// Moves what names places in the op's value to behind it.
static void movePlacements(Operation *op) {
  for (Operation *user : op->getResult(0).getUsers())
    if (isPlacement(user) && user->isBeforeInBlock(op)) {
      user->moveAfter(op);
      movePlacements(user);
    }
}

static void moveWait(Operation *wait, Operation *place) {
  wait->moveBefore(place);
  movePlacements(wait);
}

/// Writes of gathered states move no byte, and wait until the end, so that one collective does not wait for
/// another.
void CollectiveOrder::sinkWrites() {
  for (CollectiveOpInterface start : starts())
    for (Operation *user : waitOf(start)->getUsers())
      if (isa<train::SetOp>(user) && isGather(start))
        user->moveBefore(&block, block.end());
}

void CollectiveOrder::placeWaits() {
  SmallVector<CollectiveOpInterface> order = starts();
  SmallVector<Operation *> laterSums; // the last first
  Operation *next = nullptr;          // the wait of the next start
  for (CollectiveOpInterface start : llvm::reverse(order)) {
    Operation *wait = waitOf(start);
    Operation *place = earlier(firstRead(wait->getResult(0)), next);
    if (!isGather(start)) {
      if (laterSums.size() >= kSumsInFlight)
        place = earlier(place, laterSums[laterSums.size() - kSumsInFlight]);
      laterSums.push_back(start);
    }
    if (place && place != wait)
      moveWait(wait, place);
    next = wait;
  }
}
