#include "lib/Pipelines/GatheredWindow.h"

#include "dialects/Plan/Plan.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace trainc {

namespace {

/// Positions in an entry from a gather to the last use of its destination.
struct GatheredSpan {
  int64_t first, last, bytes;
};

using GatheredSpans = llvm::MapVector<StringRef, GatheredSpan>; // by buffer

/// Tracks gathers of parameters, instruction by instruction.
class Gathers {
public:
  explicit Gathers(const plan::ModuleContext &context) : context_(context) {}

  void visit(plan::InstructionOpInterface instruction, int64_t position) {
    const SmallVector<plan::OperandUse> uses = instruction.getUses(context_);
    if (auto collective = dyn_cast<plan::CollectiveOp>(*instruction))
      gather(collective, position);
    else
      noteCasts(uses);
    for (const plan::OperandUse &use : uses)
      if (auto *found = spans_.find(use.operand.getBuffer().getValue()); found != spans_.end())
        found->second.last = position;
  }

  /// Returns the spans of gathers into scratch.
  const GatheredSpans &spans() const { return spans_; }

private:
  bool holdsParameters(plan::OperandAttr operand) const {
    plan::BufferOp buffer = context_.buffer(operand);
    return buffer.getRole() == plan::Role::parameter || casts_.contains(buffer.getSymName());
  }

  void gather(plan::CollectiveOp collective, int64_t position) {
    if (collective.getKind() != CollectiveKind::all_gather)
      return;
    for (auto range : collective.getRanges().getAsRange<plan::RangeAttr>()) {
      plan::BufferOp destination = context_.buffer(range.getDestination());
      if (holdsParameters(range.getSource()) &&
          !context_.symbols().lookup<plan::ArenaOp>(destination.getArena()).getPersistent())
        spans_.insert({destination.getSymName(), {position, position, int64_t(destination.getBytes())}});
    }
  }

  /// Values computed from a rank's shard of parameters alone are parameters in another type.
  void noteCasts(ArrayRef<plan::OperandUse> uses) {
    const auto isRead = [](const plan::OperandUse &use) { return !use.writes; };
    const auto readsParameters = [&](const plan::OperandUse &use) {
      return use.writes || holdsParameters(use.operand);
    };
    if (llvm::none_of(uses, isRead) || !llvm::all_of(uses, readsParameters))
      return;
    for (const plan::OperandUse &use : uses)
      if (use.writes)
        casts_.insert(context_.buffer(use.operand).getSymName());
  }

  const plan::ModuleContext &context_;
  GatheredSpans spans_;
  llvm::StringSet<> casts_; ///< names of buffers
};

} // namespace

static int64_t maxAtOnce(const GatheredSpans &spans) {
  SmallVector<std::pair<int64_t, int64_t>> changes; // position, and change of bytes
  for (auto &[buffer, span] : spans) {
    changes.push_back({span.first, span.bytes});
    changes.push_back({span.last + 1, -span.bytes});
  }
  llvm::sort(changes); // at equal positions, ends sort before begins
  int64_t most = 0, bytes = 0;
  for (auto [position, change] : changes)
    most = std::max(most, bytes += change);
  return most;
}

int64_t gatheredWindow(ModuleOp module) {
  const plan::ModuleContext context(module);
  int64_t most = 0;
  for (auto entry : module.getOps<plan::EntryOp>()) {
    Gathers gathers(context);
    for (auto [position, instruction] :
         llvm::enumerate(entry.getBody().getOps<plan::InstructionOpInterface>()))
      gathers.visit(instruction, int64_t(position));
    most = std::max(most, maxAtOnce(gathers.spans()));
  }
  return most;
}

} // namespace trainc
