#include "lib/Analysis/Overlap.h"

#include "lib/Analysis/StateOrder.h"
#include "plan/schema/limits.h"

#include "llvm/ADT/DenseSet.h"

#include <deque>

using namespace mlir;

namespace trainc {

Operation *waitOf(CollectiveOpInterface start) { return *start->getResult(0).getUsers().begin(); }

LogicalResult requireInEntry(CollectiveOpInterface start) {
  if (isa<train::EntryOp>(start->getParentOp()))
    return success();
  return start->emitOpError("is in a loop; expected it in the entry, where all ranks reach it once");
}

/// Returns the read that gave `value`, directly or through one pure op with one operand; null if there is
/// none.
static train::GetOp sourceRead(Value value) {
  Operation *made = value.getDefiningOp();
  const bool computed = made && made->getNumOperands() == 1 && isMemoryEffectFree(made) && !isView(made);
  return (computed ? made->getOperand(0) : value).getDefiningOp<train::GetOp>();
}

train::StateOp gatheredState(CollectiveOpInterface start) {
  train::GetOp get = isGather(start) ? sourceRead(start->getOperand(0)) : train::GetOp();
  if (!get || llvm::any_of(waitOf(start)->getUsers(), llvm::IsaPred<train::SetOp>))
    return nullptr;
  auto state = SymbolTable::lookupNearestSymbolFrom<train::StateOp>(start, get.getStateAttr());
  const bool ofParameters = state && (state.getRole() == train::StateRole::parameter ||
                                      state.getRole() == train::StateRole::working);
  return ofParameters ? state : nullptr;
}

bool isCastToGather(Operation *op) {
  if (!op || isa<train::GetOp>(op) || op->getNumResults() != 1 || op->use_empty())
    return false;
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    auto start = dyn_cast<CollectiveOpInterface>(user);
    return start && gatheredState(start);
  });
}

bool isBefore(Operation *a, Operation *b) { return a != b && b && (!a || a->isBeforeInBlock(b)); }

namespace {

/// Walks an entry in order and tracks the messages in flight.
class Flights {
public:
  LogicalResult check(Block &entry) {
    const WalkResult starts = entry.walk([](CollectiveOpInterface start) {
      return failed(requireInEntry(start)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (starts.wasInterrupted())
      return failure();
    for (Operation &op : entry)
      if (failed(visit(op)))
        return failure();
    return inFlight_.empty() ? success()
                             : inFlight_.front().front()->emitOpError("is not waited for in its entry");
  }

private:
  LogicalResult visit(Operation &op) {
    if (auto start = dyn_cast<CollectiveOpInterface>(op))
      return begin(start);
    if (isWait(&op) || (!isView(&op) && !isa<train::GetOp>(op)))
      open_ = {};
    if (isWait(&op))
      return wait(op, cast<CollectiveOpInterface>(op.getOperand(0).getDefiningOp()));
    auto set = dyn_cast<train::SetOp>(op);
    return set ? requireUnread(set) : success();
  }

  LogicalResult begin(CollectiveOpInterface start) {
    const IntegerAttr message = start.getMessageAttr();
    const bool joins = message && message == open_;
    open_ = message;
    if (joins)
      return join(inFlight_.back(), start);
    if (message)
      if (auto [first, isNew] = begun_.try_emplace(message, start); !isNew) {
        InFlightDiagnostic error = start->emitOpError(
            "is not adjacent to the others of its message; expected adjacent starts of a message "
            "(run --schedule-collectives before)");
        error.attachNote(first->second.getLoc()) << "the first of them";
        return error;
      }
    inFlight_.push_back({start});
    return success();
  }

  static LogicalResult join(Message &message, CollectiveOpInterface start) {
    CollectiveOpInterface first = message.front();
    if (start.getCollectiveKind() != first.getCollectiveKind() ||
        start.getAxesAttr() != first.getAxesAttr()) {
      InFlightDiagnostic error =
          start->emitOpError("shares a message with a collective of another kind or along other axes");
      error.attachNote(first.getLoc()) << "the first of its message";
      return error;
    }
    message.push_back(start);
    if (message.size() > kMaxRanges)
      return start->emitOpError() << "is number " << message.size() << " of its message; expected at most "
                                  << kMaxRanges;
    return success();
  }

  /// The first wait of a message completes the whole message.
  LogicalResult wait(Operation &op, CollectiveOpInterface start) {
    if (done_.contains(start))
      return success();
    Message &first = inFlight_.front();
    if (!llvm::is_contained(first, start)) {
      InFlightDiagnostic error = op.emitOpError(
          "waits before the wait of an earlier collective; expected waits in the order of starts");
      error.attachNote(first.front().getLoc()) << "the earlier collective";
      return error;
    }
    done_.insert(first.begin(), first.end());
    inFlight_.pop_front();
    return success();
  }

  LogicalResult requireUnread(train::SetOp set) const {
    for (const Message &message : inFlight_)
      for (CollectiveOpInterface start : message)
        if (aliasesState(start->getOperand(0), set.getState())) {
          InFlightDiagnostic error = set.emitOpError(
              "overwrites what a collective reads until its wait; expected the write after the wait");
          error.attachNote(start.getLoc()) << "the collective";
          return error;
        }
    return success();
  }

  std::deque<Message> inFlight_; ///< in the order of starts
  llvm::DenseSet<Operation *> done_;
  llvm::DenseMap<Attribute, CollectiveOpInterface> begun_; ///< first start of each message
  Attribute open_;                                         ///< message that the next start may join
};

} // namespace

LogicalResult requireProvenOverlap(Block &entry) { return Flights().check(entry); }

} // namespace trainc
