// Pass `tree-accumulate`.
#include "lib/Optimizer/Passes.h"

#include "dialects/Train/Sharding.h"
#include "lib/Optimizer/StepBuilder.h"
#include "plan/settings/settings.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_TREEACCUMULATE
#include "lib/Optimizer/Passes.h.inc"

namespace {

/// Addition of a micro-batch's value to a state.
struct Sum {
  train::GetOp old;
  nn::AddOp add;
  train::SetOp set;
};

/// Replaces sums over 2^levels micro-batches by binary counters. For each level l below `levels`, a state
/// holds the sum of 2^l micro-batches until the sum of the next 2^l is added to it.
class TreeAccumulation {
public:
  TreeAccumulation(ModuleOp module, train::EntryOp beginStep, train::EntryOp microStep, unsigned levels)
      : beginStep(beginStep), microStep(microStep), symbols(module), levels(levels) {}

  LogicalResult run() {
    buildCompletions();
    for (train::StateOp state : statesOfSums())
      if (failed(rewrite(state)))
        return failure();
    return success();
  }

private:
  /// Builds, for each level above 0, whether this micro-batch completes a run of 2^level micro-batches:
  /// tensor<i1>.
  void buildCompletions() {
    if (levels == 0)
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(&microStep.getBody().front());
    StepBuilder build(builder, microStep.getLoc(), symbols);
    Value count = build.add(build.readScalar(HostScalar::micro), 1);
    for (unsigned level = 1; level <= levels; ++level) {
      Value size = build.constantLike(count, double(int64_t(1) << level));
      Value rest = build.sub(count, build.mul(build.div(count, size), size));
      completions.push_back(build.compare(nn::Predicate::eq, rest, build.constantLike(rest, 0)));
    }
  }

  /// Returns the states that @begin_step zeroes, except maxima, which have the same bits in any order.
  SmallVector<train::StateOp> statesOfSums() {
    llvm::StringSet<> maxima;
    for (auto set : microStep.getBody().getOps<train::SetOp>())
      if (set.getValue().getDefiningOp<nn::MaxOp>())
        maxima.insert(set.getState());
    SmallVector<train::StateOp> states;
    for (auto set : beginStep.getBody().getOps<train::SetOp>())
      if (nn::constantValue(set.getValue()) == 0.0 && !maxima.contains(set.getState()))
        states.push_back(symbols.state(set.getState()));
    return states;
  }

  LogicalResult rewrite(train::StateOp state) {
    FailureOr<Sum> sum = findSum(state);
    if (failed(sum))
      return failure();
    OpBuilder builder(sum->set);
    StepBuilder build(builder, sum->set.getLoc(), symbols);
    buildCounter(build, holders(state), sum->add.getRhs());
    sum->set.erase();
    sum->add.erase();
    sum->old.erase();
    return success();
  }

  FailureOr<Sum> findSum(train::StateOp state) {
    for (auto set : microStep.getBody().getOps<train::SetOp>()) {
      if (set.getState() != state.getSymName())
        continue;
      auto add = set.getValue().getDefiningOp<nn::AddOp>();
      auto old = add ? add.getLhs().getDefiningOp<train::GetOp>() : train::GetOp();
      if (old && old.getState() == state.getSymName() && old->hasOneUse() && add->hasOneUse())
        return Sum{old, add, set};
      return set.emitOpError(
          "writes a state that @begin_step zeroes; expected the sum of the state and a value");
    }
    return microStep.emitOpError("does not write @") << state.getSymName() << ", which @begin_step zeroes";
  }

  /// Returns the states of all levels. `state` is the highest; the others are new states that @begin_step
  /// zeroes.
  SmallVector<std::string> holders(train::StateOp state) {
    SmallVector<std::string> names;
    for (unsigned level = 0; level + 1 < levels; ++level) {
      names.push_back(("partial." + Twine(level) + "." + state.getSymName()).str());
      zeroState(beginStep,
                symbols.declareState(names.back(), state.getRole(), cast<RankedTensorType>(state.getType())));
    }
    names.push_back(state.getSymName().str());
    return names;
  }

  /// Adds one value, level by level, as long as it completes a run of micro-batches. The sum is stored at the
  /// first level whose run is incomplete; higher levels do not change.
  void buildCounter(StepBuilder &build, ArrayRef<std::string> holders, Value carry) {
    if (levels == 0)
      return build.write(holders.front(), carry);
    SmallVector<Value> olds =
        llvm::map_to_vector(holders, [&](const std::string &holder) { return build.read(holder); });
    for (unsigned level = 0; level < levels; ++level) {
      Value sum = build.add(olds[level], carry);
      Value waiting = where(build, level, carry, olds[level]);
      Value passed = level + 1 == levels ? sum : olds[level];
      build.write(holders[level], where(build, level + 1, passed, waiting));
      carry = sum;
    }
  }

  /// Returns `then` if this micro-batch completes a run of 2^level, else `otherwise`.
  Value where(StepBuilder &build, unsigned level, Value then, Value otherwise) {
    if (level == 0)
      return then;
    return build.select(build.broadcastTo(completions[level - 1], nn::shapeOf(then)), then, otherwise);
  }

  train::EntryOp beginStep, microStep;
  StepSymbols symbols;
  unsigned levels;
  SmallVector<Value> completions;
};

struct TreeAccumulate : impl::TreeAccumulateBase<TreeAccumulate> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>())
      if (train::shardingOf(program).reproducibleOverRanks && failed(run(program)))
        return signalPassFailure();
  }

private:
  LogicalResult run(train::ProgramOp program) {
    const auto accumulate = uint64_t(train::kAccumulate.of(program));
    if (!llvm::isPowerOf2_64(accumulate))
      return program.emitOpError("accumulates ")
             << accumulate << " micro-batches; expected a power of two, for a binary tree";
    auto beginStep = findEntry<train::EntryOp>(getOperation(), EntryKind::begin_step),
         microStep = findEntry<train::EntryOp>(getOperation(), EntryKind::micro_step);
    if (!beginStep || !microStep)
      return program.emitOpError(
          "the module has no entries @begin_step and @micro_step; run optimizer first");
    return TreeAccumulation(getOperation(), beginStep, microStep, llvm::Log2_64(accumulate)).run();
  }
};

} // namespace
} // namespace trainc
