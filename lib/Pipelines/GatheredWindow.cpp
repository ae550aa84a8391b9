#include "lib/Pipelines/GatheredWindow.h"

#include "dialects/Plan/Plan.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace trainc {

namespace {

/// From a gather to the last use of what it fills, as positions in an entry.
struct GatheredSpan {
  int64_t first, last, bytes;
};

using GatheredSpans = llvm::MapVector<StringRef, GatheredSpan>; // by buffer

} // namespace

/// Calls `visit` with the name of every buffer that the instruction, or one in its loop, uses.
static void forEachBuffer(Operation &op, llvm::function_ref<void(StringRef)> visit) {
  op.walk([&](Operation *inner) {
    inner->getAttrDictionary().walk(
        [&](plan::OperandAttr operand) { visit(operand.getBuffer().getValue()); });
  });
}

/// Adds what the collective gathers of parameters into scratch.
static void addGathered(plan::CollectiveOp collective, int64_t position, const SymbolTable &symbols,
                        GatheredSpans &spans) {
  if (collective.getKind() != CollectiveKind::all_gather)
    return;
  for (auto range : collective.getRanges().getAsRange<plan::RangeAttr>()) {
    auto source = symbols.lookup<plan::BufferOp>(range.getSource().getBuffer().getValue()),
         destination = symbols.lookup<plan::BufferOp>(range.getDestination().getBuffer().getValue());
    if (source.getRole() == plan::Role::parameter &&
        !symbols.lookup<plan::ArenaOp>(destination.getArena()).getPersistent())
      spans.insert({destination.getSymName(), {position, position, int64_t(destination.getBytes())}});
  }
}

static int64_t mostAtOnce(const GatheredSpans &spans) {
  SmallVector<std::pair<int64_t, int64_t>> changes; // where, and of how many bytes
  for (auto &[buffer, span] : spans) {
    changes.push_back({span.first, span.bytes});
    changes.push_back({span.last + 1, -span.bytes});
  }
  llvm::sort(changes); // what ends before what begins at the same place
  int64_t most = 0, bytes = 0;
  for (auto [position, change] : changes)
    most = std::max(most, bytes += change);
  return most;
}

int64_t gatheredWindow(ModuleOp module) {
  SymbolTable symbols(module);
  int64_t most = 0;
  for (auto entry : module.getOps<plan::EntryOp>()) {
    GatheredSpans spans;
    int64_t position = 0;
    for (Operation &op : entry.getBody().front()) {
      if (auto collective = dyn_cast<plan::CollectiveOp>(op))
        addGathered(collective, position, symbols, spans);
      forEachBuffer(op, [&](StringRef buffer) {
        if (auto *found = spans.find(buffer); found != spans.end())
          found->second.last = position;
      });
      ++position;
    }
    most = std::max(most, mostAtOnce(spans));
  }
  return most;
}

} // namespace trainc
