// The pass order-streams: what each instruction comes after.
#include "dialects/Plan/Plan.h"
#include "lib/Memory/Passes.h"
#include "lib/Support/StoredElement.h"

#include "mlir/IR/BuiltinOps.h"

#include <array>

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_ORDERSTREAMSPASS
#include "lib/Memory/Passes.h.inc"

namespace {

/// Bytes [begin, end) of an arena that an instruction may touch, over all iterations, at the first place in a
/// shard group; `rankStep` bytes further at each next one.
struct Use {
  StringRef arena;
  int64_t begin, end, rankStep;
  bool writes;
};

/// What instructions of a module's entries touch.
class Uses {
public:
  explicit Uses(ModuleOp module) : symbols_(module) {
    for (auto training : module.getOps<plan::TrainingOp>()) {
      ranks_ = int64_t(training.getRanks());
      shardRanks_ = int64_t(training.getShardRanks());
    }
  }

  SmallVector<Use> of(Operation &op) const {
    SmallVector<Use> uses;
    if (auto loop = dyn_cast<plan::LoopOp>(op))
      for (Operation &inner : loop.getBody().front())
        add(inner, int64_t(loop.getCount()), uses);
    else
      add(op, 1, uses);
    return uses;
  }

  /// Whether two share bytes on some rank, one of them writing.
  bool conflict(const Use &a, const Use &b) const {
    if ((!a.writes && !b.writes) || a.arena != b.arena)
      return false;
    const int64_t travels = a.rankStep == b.rankStep ? 0 : shardRanks_ - 1;
    return a.begin < b.end + travels * b.rankStep && b.begin < a.end + travels * a.rankStep;
  }

private:
  void add(Operation &op, int64_t iterations, SmallVectorImpl<Use> &uses) const {
    auto use = [&](plan::OperandAttr operand, int64_t bytes, bool writes) {
      auto buffer = symbols_.lookup<plan::BufferOp>(operand.getBuffer().getValue());
      const int64_t begin = int64_t(buffer.getOffset()) + operand.getOffset(),
                    travel = (iterations - 1) * operand.getLoopStride();
      uses.push_back({buffer.getArena(), begin + std::min<int64_t>(travel, 0),
                      begin + std::max<int64_t>(travel, 0) + bytes, operand.getRankStride(), writes});
    };
    if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
      auto kernel = symbols_.lookup<plan::KernelOp>(launch.getKernel());
      for (auto [operand, param] : llvm::zip(launch.getArgs().getAsRange<plan::OperandAttr>(),
                                             kernel.getParams().getAsRange<plan::ParamAttr>()))
        use(operand, param.getBytes(), param.getAccess() != plan::Access::read);
    } else if (auto call = dyn_cast<plan::LibraryCallOpInterface>(op)) {
      for (const plan::OperandUse &each : call.getOperandUses())
        use(each.operand, each.bytes, each.writes);
    } else if (auto copy = dyn_cast<plan::CopyOp>(op)) {
      use(copy.getSource(), int64_t(copy.getBytes()), false);
      use(copy.getDestination(), int64_t(copy.getBytes()), true);
    } else if (auto zero = dyn_cast<plan::ZeroOp>(op)) {
      use(zero.getDestination(), int64_t(zero.getBytes()), true);
    } else if (auto collective = dyn_cast<plan::CollectiveOp>(op)) {
      for (auto range : collective.getRanges().getAsRange<plan::RangeAttr>()) {
        const CollectiveKind kind = collective.getKind();
        const int64_t whole = range.getElements(), part = whole / members(collective.getGroup());
        use(range.getSource(),
            (kind == CollectiveKind::all_gather ? part : whole) * elementBytes(range.getElement()), false);
        use(range.getDestination(),
            (kind == CollectiveKind::reduce_scatter ? part : whole) *
                elementBytes(range.getDestinationElement()),
            true);
        if (range.getWorkspace())
          use(range.getWorkspace(), range.getWorkspaceBytes(), true);
      }
    }
  }

  int64_t members(RankGroup group) const {
    return group == RankGroup::shard     ? shardRanks_
           : group == RankGroup::replica ? ranks_ / shardRanks_
                                         : ranks_;
  }

  SymbolTable symbols_;
  int64_t ranks_ = 1, shardRanks_ = 1;
};

constexpr size_t kStreams = plan::getMaxEnumValForStream() + 1;

/// Walks an entry; knows of each instruction what is done when it is.
class StreamOrder {
public:
  explicit StreamOrder(const Uses &uses) : uses_(uses) {}

  void order(plan::EntryOp entry) {
    for (auto instruction : entry.getBody().getOps<plan::InstructionOpInterface>()) {
      known_.push_back(uses_.of(*instruction));
      if (const SmallVector<int64_t> after = comesAfter(instruction.getStream()); !after.empty())
        instruction.comeAfter(after);
      enqueue(instruction);
    }
  }

private:
  /// By stream: how many instructions, up to the last one on it, are done.
  using Done = std::array<int64_t, kStreams>;

  /// The last instruction of each other stream that the newest one must come after, except those that another
  /// of them, or its own stream, implies.
  SmallVector<int64_t> comesAfter(plan::Stream own) const {
    const Done before = doneBefore(own);
    SmallVector<int64_t> candidates;
    for (size_t stream = 0; stream < kStreams; ++stream)
      if (stream != size_t(own))
        for (const int64_t other : llvm::reverse(onStream_[stream])) {
          if (other < before[stream])
            break;
          if (conflicts(other)) {
            candidates.push_back(other);
            break;
          }
        }
    llvm::sort(candidates);
    SmallVector<int64_t> needed;
    for (const int64_t candidate : candidates)
      if (llvm::none_of(candidates, [&](int64_t other) {
            return other != candidate && done_[other][streams_[candidate]] > candidate;
          }))
        needed.push_back(candidate);
    return needed;
  }

  bool conflicts(int64_t other) const {
    return llvm::any_of(known_.back(), [&](const Use &use) {
      return llvm::any_of(known_[other], [&](const Use &held) { return uses_.conflict(use, held); });
    });
  }

  Done doneBefore(plan::Stream stream) const {
    const SmallVector<int64_t> &before = onStream_[size_t(stream)];
    return before.empty() ? Done{} : done_[before.back()];
  }

  void enqueue(plan::InstructionOpInterface instruction) {
    const auto index = int64_t(done_.size());
    const auto stream = size_t(instruction.getStream());
    Done done = doneBefore(instruction.getStream());
    for (const int64_t other : instruction.getAfterOrNone())
      for (size_t each = 0; each < kStreams; ++each)
        done[each] = std::max(done[each], done_[other][each]);
    done[stream] = index + 1;
    done_.push_back(done);
    streams_.push_back(stream);
    onStream_[stream].push_back(index);
  }

  const Uses &uses_;
  std::vector<SmallVector<Use>> known_; ///< by instruction
  std::vector<Done> done_;
  std::vector<size_t> streams_;
  std::array<SmallVector<int64_t>, kStreams> onStream_;
};

struct OrderStreamsPass : impl::OrderStreamsPassBase<OrderStreamsPass> {
  void runOnOperation() override {
    const Uses uses(getOperation());
    for (auto entry : getOperation().getOps<plan::EntryOp>())
      StreamOrder(uses).order(entry);
  }
};

} // namespace
} // namespace trainc
