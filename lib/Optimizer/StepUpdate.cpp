// The update that follows from a step's gradients.
#include "lib/Optimizer/StepUpdate.h"

#include "lib/Optimizer/UpdateRule.h"

using namespace mlir;
using namespace trainc;

static std::string accumulatorOf(StringRef parameter) { return ("grad." + parameter).str(); }

LogicalResult StepUpdate::run() {
  auto microStep = findEntry<train::EntryOp>(module, EntryKind::micro_step);
  if (!microStep)
    return program.emitOpError("the module has no entry @micro_step; run instantiate and autodiff first");
  if (microStep.getBody().getOps<train::GradientOp>().empty())
    return microStep.emitOpError("has no train.gradient; run autodiff first");
  if (program.getAccumulate() == 1) {
    buildUpdate(microStep, takeGradients(microStep));
  } else if (sumsBehindLastBackward()) {
    train::EntryOp last = symbols.cloneEntry(microStep, EntryKind::last_micro_step);
    accumulate(microStep);
    buildUpdate(last, accumulate(last));
  } else {
    const Gradients sums = accumulate(microStep);
    train::EntryOp update = symbols.declareEntry(EntryKind::update, microStep);
    buildUpdate(update, readAccumulated(update, sums));
  }
  return success();
}

/// Each rank's sums over its micro-batches are summed over ranks as soon as the last micro-batch has added
/// its own. The counters of `tree-accumulate` need one entry for all micro-batches.
bool StepUpdate::sumsBehindLastBackward() {
  return program.getRanks() > 1 && !syncsEveryMicroStep() &&
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

/// The sum is read at the start and written as soon as the gradient is known: the op that makes the gradient
/// can then accumulate in place, and the gradient's own memory is free again.
Gradients StepUpdate::accumulate(train::EntryOp entry) {
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

/// The name of the state that sums a parameter's gradients over a step's micro-batches.
std::string StepUpdate::declareAccumulator(StringRef parameter, RankedTensorType type) {
  std::string name = accumulatorOf(parameter);
  if (!symbols.state(name)) {
    train::StateOp state = symbols.declareState(name, train::StateRole::gradient, type);
    zeroState(symbols.declareEntry(EntryKind::begin_step, state), state);
  }
  return name;
}

Gradients StepUpdate::readAccumulated(train::EntryOp entry, const Gradients &sums) {
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  StepBuilder build(builder, program.getLoc(), symbols);
  return llvm::map_to_vector(
      sums, [&](const auto &sum) { return std::pair(sum.first, build.read(accumulatorOf(sum.first))); });
}

/// What an entry has read by now; before the update it writes no parameter.
static llvm::StringMap<Value> valuesReadIn(train::EntryOp entry) {
  llvm::StringMap<Value> values;
  for (auto read : entry.getBody().getOps<train::GetOp>())
    values.try_emplace(read.getState(), read.getResult());
  return values;
}

/// Each rank has summed over its own samples. Gradients of which each keeps a part were summed as they came.
void StepUpdate::sumOverRanks(StepBuilder &build, Gradients &gradients) {
  if (program.getAccumulate() == 1 || !syncsEveryMicroStep())
    for (auto &[name, gradient] : gradients)
      gradient = build.sumOverRanks(gradient, name);
}

void StepUpdate::buildUpdate(train::EntryOp entry, Gradients gradients) {
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  StepBuilder build(builder, program.getLoc(), symbols);
  const bool alone = program.getRanks() == 1;
  if (!alone)
    sumOverRanks(build, gradients);
  Value norm = buildGlobalNorm(build, gradients);
  SmallVector<Value> watched{norm};
  if (train::findScalar(module, HostScalar::loss)) {
    watched.push_back(build.readScalar(HostScalar::loss));
    if (!alone)
      build.writeReport(HostScalar::loss, watched.back() = build.sumOverRanks(watched.back()));
  }
  build.finite = buildFiniteFlag(build, watched);
  build.writeReport(HostScalar::grad_norm, norm);
  build.writeReport(HostScalar::finite, build.finite);
  Value clip =
      program.getClip() ? buildClipFactor(build, norm, program.getClip()->convertToDouble()) : Value();
  std::unique_ptr<UpdateRule> rule = UpdateRule::create(program.getOptimizer());
  rule->begin(build);
  llvm::StringMap<Value> known = valuesReadIn(entry);
  for (auto [name, gradient] : gradients) {
    Value value = known.lookup(name);
    if (!value)
      value = build.read(name);
    auto settings = train::settingsOf(program, name, nn::shapeOf(value).size());
    Value clipped = clip ? build.scale(gradient, clip) : gradient;
    build.replace(name, value, rule->update(build, {name, value, clipped, settings}));
  }
}
