// Pass `optimizer`: the parameter update.
#include "dialects/Dist/Dist.h"
#include "dialects/Train/Precision.h"
#include "dialects/Train/Sharding.h"
#include "lib/Optimizer/LossScaler.h"
#include "lib/Optimizer/OperandScales.h"
#include "lib/Optimizer/Passes.h"
#include "lib/Optimizer/StepBuilder.h"
#include "lib/Optimizer/UpdateRule.h"
#include "plan/settings/settings.h"

#include <limits>

using namespace mlir;
using namespace trainc;

// --- Norm of all gradients, clipping, and whether the step may be applied ---

/// Parameters with their gradients.
using Gradients = SmallVector<std::pair<StringRef, Value>>;

static Value sumOfSquares(StepBuilder &build, Value gradient) {
  Value squares = build.square(gradient);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, nn::shapeOf(gradient).size()));
  return dims.empty() ? squares : build.sum(squares, dims);
}

/// Returns the sum of squares of each chunk of a flat gradient.
static Value sumChunks(StepBuilder &build, Value gradient) {
  const int64_t rows = nn::shapeOf(gradient).front() / train::kFlatChunk;
  return build.sum(build.square(build.reshape(gradient, {rows, train::kFlatChunk})), {1});
}

/// Appends each member's sums of chunks.
static void splitChunks(StepBuilder &build, ArrayAttr members, Value chunks, Gradients &sums) {
  for (auto member : members.getAsRange<train::MemberAttr>()) {
    const int64_t size = llvm::divideCeil(member.getType().getNumElements(), train::kFlatChunk);
    sums.push_back({member.getName(), build.slice(chunks, 0, member.getOffset() / train::kFlatChunk, size)});
  }
}

/// Returns the square root of the sum of all squares, tensor<f32>; 0 without any gradient. Flat
/// gradients are summed by chunk (kFlatChunk), and chunks in the order of the members' names, so that the
/// bits depend neither on the layout of flat states nor on sharding.
static Value buildGlobalNorm(StepBuilder &build, const Gradients &gradients) {
  Value total;
  Gradients flat; // all sums precede their readers, so that ranks gather them at once
  for (auto [name, gradient] : gradients) {
    if (build.state(name).getMembersAttr()) {
      flat.emplace_back(name, sumChunks(build, gradient));
      continue;
    }
    Value sum = sumOfSquares(build, gradient);
    total = total ? build.add(total, sum) : sum;
  }
  Gradients chunks; // by member
  for (auto [name, sums] : flat)
    splitChunks(build, build.state(name).getMembersAttr(), sums, chunks);
  if (!chunks.empty()) {
    llvm::sort(chunks, llvm::less_first());
    Value sum = build.sum(build.concat(llvm::to_vector(llvm::make_second_range(chunks)), 0), {0});
    total = total ? build.add(total, sum) : sum;
  }
  return total ? build.create<nn::SqrtOp>(total).getResult() : build.constant(0, build.scalarType());
}

/// Returns the gradients times `factor`; unchanged if it is null.
static Gradients scaled(StepBuilder &build, const Gradients &gradients, Value factor) {
  if (!factor)
    return gradients;
  return llvm::map_to_vector(
      gradients, [&](const auto &each) { return std::pair(each.first, build.scale(each.second, factor)); });
}

/// As scaled(), but recomputed after a barrier, so that no scaled gradient is kept in memory until the norm
/// is known.
static Gradients rescaled(StepBuilder &build, Gradients gradients, Value factor) {
  if (factor)
    for (auto &[name, gradient] : gradients)
      gradient = build.create<nn::BarrierOp>(gradient).getResult();
  return scaled(build, gradients, factor);
}

/// Returns min(1, clip/(norm + 1e-6)), as torch.nn.utils.clip_grad_norm_.
static Value buildClipFactor(StepBuilder &build, Value norm, double clip) {
  Value quotient = build.div(build.constantLike(norm, clip), build.add(norm, 1e-6));
  return build.create<nn::MinOp>(quotient, build.constantLike(norm, 1)).getResult();
}

/// Returns 1 if all `scalars` are finite, else 0: tensor<f32>. NaN compares as false, and infinity exceeds
/// the largest number.
static Value buildFiniteFlag(StepBuilder &build, ArrayRef<Value> scalars) {
  Value flag;
  for (Value scalar : scalars) {
    Value magnitude = build.create<nn::AbsOp>(scalar).getResult();
    Value largest = build.constantLike(scalar, std::numeric_limits<float>::max());
    Value bounded = build.compare(nn::Predicate::le, magnitude, largest);
    Value one = build.constantLike(scalar, 1), zero = build.constantLike(scalar, 0);
    flag = build.select(bounded, flag ? flag : one, zero);
  }
  return flag;
}

// --- The update ---

namespace {

/// Gradients and magnitudes of a step.
struct StepSums {
  Gradients gradients;
  SmallVector<Magnitudes> magnitudes;
};

/// Replaces the train.gradient and train.magnitudes ops of entry @micro_step by the program's update.
class StepUpdate {
public:
  StepUpdate(ModuleOp module, train::ProgramOp program, double lossScaleWindow)
      : module(module), program(program), symbols(module), lossScaleWindow(lossScaleWindow) {}

  /// Reports an error if the module has no gradients.
  LogicalResult run();

private:
  /// Erases the train.gradient ops and returns their contents.
  static Gradients takeGradients(train::EntryOp entry);
  /// Replaces the train.gradient ops by additions to states, and returns the sums.
  Gradients accumulateGradients(train::EntryOp entry);
  StepSums accumulate(train::EntryOp entry) {
    return {accumulateGradients(entry), accumulateMagnitudes(entry, symbols)};
  }
  std::string declareAccumulator(StringRef parameter, RankedTensorType type);
  /// Builds norm, clipping and updates at the end of `entry`.
  void buildUpdate(train::EntryOp entry, StepSums sums);
  bool syncsEveryMicroStep() const { return train::shardingOf(program).syncEveryMicroStep; }
  bool sumsAfterLastBackward();
  bool hasFlatParameters();
  void sumOverRanks(StepBuilder &build, Gradients &gradients);
  /// Reads the accumulated sums in `entry`.
  StepSums readAccumulated(train::EntryOp entry, const StepSums &sums);

  ModuleOp module;
  train::ProgramOp program;
  StepSymbols symbols;
  double lossScaleWindow;
};

} // namespace

static std::string accumulatorOf(StringRef parameter) { return ("grad." + parameter).str(); }

LogicalResult StepUpdate::run() {
  auto microStep = findEntry<train::EntryOp>(module, EntryKind::micro_step);
  if (!microStep)
    return program.emitOpError("the module has no entry @micro_step; run instantiate and autodiff first");
  if (microStep.getBody().getOps<train::GradientOp>().empty() && !program.getNoTraining())
    return microStep.emitOpError("has no train.gradient; run autodiff first");
  if (train::precisionOf(program).roundsAtRandom() && !hasFlatParameters())
    return program.emitOpError("rounds at random, by the chunks of flat parameters; run flatten first");
  if (train::kAccumulate.of(program) == 1) {
    buildUpdate(microStep, {takeGradients(microStep), takeMagnitudes(microStep)});
  } else if (sumsAfterLastBackward()) {
    train::EntryOp last = symbols.cloneEntry(microStep, EntryKind::last_micro_step);
    accumulate(microStep);
    buildUpdate(last, accumulate(last));
  } else {
    const StepSums sums = accumulate(microStep);
    train::EntryOp update = symbols.declareEntry(EntryKind::update, microStep);
    buildUpdate(update, readAccumulated(update, sums));
  }
  return success();
}

bool StepUpdate::hasFlatParameters() {
  auto microStep = findEntry<train::EntryOp>(module, EntryKind::micro_step);
  return llvm::all_of(microStep.getBody().getOps<train::GradientOp>(), [&](train::GradientOp gradient) {
    train::StateOp state = symbols.state(gradient.getParameter());
    return state && state.getMembers();
  });
}

/// Whether gradients are summed over ranks as soon as the last micro-batch has been accumulated. Not with
/// `tree-accumulate`, whose counters need one entry for all micro-batches.
bool StepUpdate::sumsAfterLastBackward() {
  return train::kRanks.of(program) > 1 && !syncsEveryMicroStep() &&
         !train::shardingOf(program).reproducibleOverRanks;
}

Gradients StepUpdate::takeGradients(train::EntryOp entry) {
  Gradients gradients;
  for (auto op : llvm::make_early_inc_range(entry.getBody().getOps<train::GradientOp>())) {
    gradients.emplace_back(op.getParameterAttr().getValue(), op.getValue());
    op.erase();
  }
  return gradients;
}

/// The sum is read at the start and written as soon as the gradient is known, so that the op that computes
/// the gradient can accumulate in place, and the gradient needs no memory.
Gradients StepUpdate::accumulateGradients(train::EntryOp entry) {
  Block &body = entry.getBody().front();
  const bool syncs = syncsEveryMicroStep();
  Gradients sums;
  for (auto [parameter, gradient] : takeGradients(entry)) {
    const std::string name = declareAccumulator(parameter, nn::tensorType(gradient));
    OpBuilder start = OpBuilder::atBlockBegin(&body), builder = OpBuilder::atBlockEnd(&body);
    Value old = StepBuilder(start, gradient.getLoc(), symbols).read(name);
    builder.setInsertionPointAfterValue(gradient);
    StepBuilder build(builder, gradient.getLoc(), symbols);
    Value sum = build.add(old, syncs ? build.sumOverRanks(gradient, parameter) : gradient);
    build.write(name, sum);
    sums.emplace_back(parameter, sum);
  }
  return sums;
}

/// Returns the name of the state that accumulates a parameter's gradients over a step's micro-batches.
std::string StepUpdate::declareAccumulator(StringRef parameter, RankedTensorType type) {
  std::string name = accumulatorOf(parameter);
  if (!symbols.state(name)) {
    train::StateOp state = symbols.declareState(name, train::StateRole::gradient, type);
    zeroState(symbols.declareEntry(EntryKind::begin_step, state), state);
  }
  return name;
}

StepSums StepUpdate::readAccumulated(train::EntryOp entry, const StepSums &sums) {
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  StepBuilder build(builder, program.getLoc(), symbols);
  auto gradients = llvm::map_to_vector(sums.gradients, [&](const auto &sum) {
    return std::pair(sum.first, build.read(accumulatorOf(sum.first)));
  });
  return {std::move(gradients), readMagnitudes(build, sums.magnitudes)};
}

/// Returns the values of states that an entry has read. Before the update the entry writes no parameter.
static llvm::StringMap<Value> valuesReadIn(train::EntryOp entry) {
  llvm::StringMap<Value> values;
  for (auto read : entry.getBody().getOps<train::GetOp>())
    values.try_emplace(read.getState(), read.getResult());
  return values;
}

/// Sums gradients over ranks, unless sharded gradients have been summed after every micro-batch. On one rank,
/// gradients are rounded as a sum over several ranks would be (pass narrow-gradients).
void StepUpdate::sumOverRanks(StepBuilder &build, Gradients &gradients) {
  const bool sums = train::kRanks.of(program) > 1 || !train::precisionOf(program).reduce.isF32();
  if (sums && (train::kAccumulate.of(program) == 1 || !syncsEveryMicroStep()))
    for (auto &[name, gradient] : gradients)
      gradient = build.sumOverRanks(gradient, name);
}

void StepUpdate::buildUpdate(train::EntryOp entry, StepSums sums) {
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  StepBuilder build(builder, program.getLoc(), symbols);
  build.moments = train::precisionOf(program).optimizerStates;
  const bool alone = train::kRanks.of(program) == 1;
  sumOverRanks(build, sums.gradients);
  LossScaler scaler(build, train::lossScalingOf(program), lossScaleWindow);
  Value norm = buildGlobalNorm(build, scaled(build, sums.gradients, scaler.inverse()));
  SmallVector<Value> watched{norm};
  if (train::findScalar(module, HostScalar::loss)) {
    watched.push_back(build.readScalar(HostScalar::loss));
    if (!alone)
      build.writeReport(HostScalar::loss, watched.back() = build.sumOverRanks(watched.back()));
  }
  for (Magnitudes &each : sums.magnitudes) {
    if (!alone)
      each.largest = build.maxOverRanks(each.largest);
    watched.push_back(largestOf(build, each));
  }
  build.finite = buildFiniteFlag(build, watched);
  build.writeReport(HostScalar::grad_norm, norm);
  build.writeReport(HostScalar::finite, build.finite);
  scaler.advance();
  for (const Magnitudes &each : sums.magnitudes)
    advanceScales(build, each);
  Value clip =
      program.getClip() ? buildClipFactor(build, norm, program.getClip()->convertToDouble()) : Value();
  std::unique_ptr<UpdateRule> rule = UpdateRule::create(program.getOptimizer());
  rule->begin(build);
  llvm::StringMap<Value> known = valuesReadIn(entry);
  for (auto [name, gradient] : rescaled(build, sums.gradients, scaler.inverse())) {
    Value value = known.lookup(name);
    if (!value)
      value = build.read(name);
    auto settings = train::settingsOf(program, name, nn::shapeOf(value).size());
    value = build.wide(value);
    Value clipped = clip ? build.scale(gradient, clip) : gradient;
    build.replaceParameter(name, value, rule->update(build, {name, value, clipped, settings}));
  }
}

// --- The pass ---

namespace trainc {

#define GEN_PASS_DEF_OPTIMIZER
#include "lib/Optimizer/Passes.h.inc"

namespace {

struct Optimizer : impl::OptimizerBase<Optimizer> {
  using OptimizerBase::OptimizerBase;

  void runOnOperation() override {
    auto programs = llvm::to_vector(getOperation().getOps<train::ProgramOp>());
    if (programs.size() != 1) {
      getOperation().emitError("optimizer: expected one train.program in the module, found ")
          << programs.size();
      return signalPassFailure();
    }
    if (failed(StepUpdate(getOperation(), programs.front(), double(lossScaleWindow)).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace trainc
