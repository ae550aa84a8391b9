#include "lib/Pipelines/GatheredWindow.h"

#include "dialects/Plan/Plan.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

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

namespace {

/// What an entry gathers of parameters, instruction by instruction.
class Gathers {
public:
  explicit Gathers(const SymbolTable &symbols) : symbols_(symbols) {}

  void visit(Operation &op, int64_t position) {
    if (auto collective = dyn_cast<plan::CollectiveOp>(op))
      gather(collective, position);
    if (auto launch = dyn_cast<plan::LaunchOp>(op))
      cast(launch);
  }

  GatheredSpans spans; ///< of what is gathered into scratch

private:
  plan::BufferOp bufferOf(plan::OperandAttr operand) const {
    return symbols_.lookup<plan::BufferOp>(operand.getBuffer().getValue());
  }

  bool holdsParameters(plan::OperandAttr operand) const {
    plan::BufferOp buffer = bufferOf(operand);
    return buffer.getRole() == plan::Role::parameter || casts_.contains(buffer.getSymName());
  }

  void gather(plan::CollectiveOp collective, int64_t position) {
    if (collective.getKind() != CollectiveKind::all_gather)
      return;
    for (auto range : collective.getRanges().getAsRange<plan::RangeAttr>()) {
      plan::BufferOp destination = bufferOf(range.getDestination());
      if (holdsParameters(range.getSource()) &&
          !symbols_.lookup<plan::ArenaOp>(destination.getArena()).getPersistent())
        spans.insert({destination.getSymName(), {position, position, int64_t(destination.getBytes())}});
    }
  }

  /// Remembers what is made of a rank's part of parameters alone.
  void cast(plan::LaunchOp launch) {
    auto kernel = symbols_.lookup<plan::KernelOp>(launch.getKernel());
    StringRef made;
    bool reads = false;
    for (auto [operand, param] : llvm::zip(launch.getArgs().getAsRange<plan::OperandAttr>(),
                                           kernel.getParams().getAsRange<plan::ParamAttr>())) {
      if (param.getAccess() != plan::Access::read)
        made = bufferOf(operand).getSymName();
      else if (reads = holdsParameters(operand); !reads)
        return;
    }
    if (reads)
      casts_.insert(made);
  }

  const SymbolTable &symbols_;
  llvm::StringSet<> casts_;
};

} // namespace

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
    Gathers gathers(symbols);
    int64_t position = 0;
    for (Operation &op : entry.getBody().front()) {
      gathers.visit(op, position);
      forEachBuffer(op, [&](StringRef buffer) {
        if (auto *found = gathers.spans.find(buffer); found != gathers.spans.end())
          found->second.last = position;
      });
      ++position;
    }
    most = std::max(most, mostAtOnce(gathers.spans));
  }
  return most;
}

} // namespace trainc
