// Pass `recompute-blocks`: recomputes a block's forward where its backward first reads each value.
#include "lib/Remat/KeptInside.h"
#include "lib/Remat/Passes.h"
#include "lib/Support/SourceName.h"
#include "plan/settings/settings.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_RECOMPUTEBLOCKS
#include "lib/Remat/Passes.h.inc"

namespace {

/// Recomputes dropped values of block uses in one entry, right before the first backward op that reads each.
class Recomputation {
public:
  Recomputation(const ForwardSide &forward, const BlockUses &uses, llvm::DenseSet<Value> kept)
      : forward_(forward), uses_(uses), kept_(std::move(kept)) {}

  void run(Block &block) {
    for (Operation &op : block) // the loop never reaches the recomputed ops, which are inserted before `op`
      if (!forward_.contains(&op))
        readRecomputed(op);
  }

private:
  /// Whether the value is in a use, is not read outside that use and is not kept for the backward.
  bool isDropped(Value value) const {
    return uses_.useOf(value.getDefiningOp()) && !uses_.isReadOutsideUse(value) && !kept_.contains(value);
  }

  void readRecomputed(Operation &reader) {
    for (OpOperand &operand : reader.getOpOperands())
      if (isDropped(operand.get())) {
        recompute(operand.get(), &reader);
        operand.set(recomputed_.lookup(operand.get()));
      }
  }

  /// Inserts before `reader` the ops that recompute `value`, except those that were recomputed earlier.
  void recompute(Value value, Operation *reader) {
    if (recomputed_.contains(value))
      return;
    OpBuilder builder(reader);
    llvm::DenseSet<Operation *> needed = {value.getDefiningOp()};
    SmallVector<Operation *> ops;
    for (Operation *op : llvm::reverse(uses_.uses()[*uses_.useOf(value.getDefiningOp())].ops)) {
      if (!needed.contains(op))
        continue;
      ops.push_back(op);
      for (Value operand : op->getOperands())
        if (isDropped(operand) && !recomputed_.contains(operand))
          needed.insert(operand.getDefiningOp());
    }
    for (Operation *op : llvm::reverse(ops))
      clone(op, builder);
  }

  void clone(Operation *op, OpBuilder &builder) {
    for (Value operand : op->getOperands()) {
      // States are not read through a barrier, because ranks gather them by name.
      const bool isKept = !forward_.needsNoSaving(operand) || isa<train::InputOp>(operand.getDefiningOp());
      if (isKept && !recomputed_.contains(operand))
        readKept(operand, builder);
    }
    builder.clone(*op, recomputed_)->setLoc(recomputedLoc(op->getLoc()));
  }

  /// Reads a kept value through a barrier, so that no pass merges the recomputed op with the forward's, or
  /// moves it earlier.
  void readKept(Value value, OpBuilder &builder) {
    recomputed_.map(value, nn::BarrierOp::create(builder, value.getLoc(), value).getResult());
  }

  const ForwardSide &forward_;
  const BlockUses &uses_;
  llvm::DenseSet<Value> kept_;
  IRMapping recomputed_;
};

struct RecomputeBlocks : impl::RecomputeBlocksBase<RecomputeBlocks> {
  using RecomputeBlocksBase::RecomputeBlocksBase;

  void runOnOperation() override;

private:
  FailureOr<llvm::DenseSet<Value>> findKept(const BlockUses &uses, const ForwardSide &forward,
                                            codegen::OpCosts &costs) const;
};

} // namespace

/// The last number of `keep` applies to all further uses.
FailureOr<llvm::DenseSet<Value>> RecomputeBlocks::findKept(const BlockUses &uses, const ForwardSide &forward,
                                                           codegen::OpCosts &costs) const {
  llvm::DenseSet<Value> kept;
  for (auto [number, use] : llvm::enumerate(uses.uses())) {
    const int64_t percent = keep.empty() ? 0 : keep[std::min(number, keep.size() - 1)];
    if (percent == 0)
      continue;
    if (percent == 100) {
      for (Operation *op : use.ops)
        kept.insert(op->result_begin(), op->result_end());
      continue;
    }
    FailureOr<KeptInside> inside = KeptInside::price(use, uses, forward, costs);
    if (failed(inside))
      return failure();
    kept.insert_range(inside->choose(percent));
  }
  return kept;
}

void RecomputeBlocks::runOnOperation() {
  const std::unique_ptr<codegen::Target> target = codegen::Target::chosenFor(getOperation());
  int64_t ranks = 1;
  for (auto program : getOperation().getOps<train::ProgramOp>())
    ranks = train::kRanks.of(program);
  codegen::OpCosts costs(*target, ranks, std::make_shared<codegen::Summaries>());
  const auto names = llvm::to_vector_of<StringRef>(blocks);
  for (auto entry : getOperation().getOps<train::EntryOp>()) {
    const ForwardSide forward(entry);
    const BlockUses uses(entry, forward, names);
    FailureOr<llvm::DenseSet<Value>> kept = findKept(uses, forward, costs);
    if (failed(kept))
      return signalPassFailure();
    Recomputation(forward, uses, std::move(*kept)).run(entry.getBody().front());
  }
}

} // namespace trainc
