// The update that follows from a step's gradients.
#include "lib/Optimizer/StepUpdate.h"

#include "dialects/Train/Names.h"
#include "lib/Optimizer/UpdateRule.h"

using namespace mlir;
using namespace trainc;

static std::string accumulatorOf(StringRef parameter) { return ("grad." + parameter).str(); }

LogicalResult StepUpdate::run() {
  auto microStep = module.lookupSymbol<train::EntryOp>("micro_step");
  if (!microStep)
    return program.emitOpError("the module has no entry @micro_step; run instantiate and autodiff first");
  auto ops = llvm::to_vector(microStep.getBody().front().getOps<train::GradientOp>());
  if (ops.empty())
    return microStep.emitOpError("has no train.gradient; run autodiff first");
  Gradients gradients;
  for (train::GradientOp op : ops)
    gradients.emplace_back(op.getParameterAttr().getValue(), op.getValue());
  train::EntryOp entry = microStep;
  if (program.getAccumulate() > 1) {
    accumulate(microStep, ops);
    entry = symbols.declareEntry("update", microStep);
    gradients = readAccumulated(entry, llvm::to_vector(llvm::make_first_range(gradients)));
  }
  for (train::GradientOp op : ops)
    op.erase();
  buildUpdate(entry, gradients);
  return success();
}

/// The sum is read at the start and written as soon as the gradient is known: the op that makes the gradient
/// can then accumulate in place, and the gradient's own memory is free again.
void StepUpdate::accumulate(train::EntryOp microStep, ArrayRef<train::GradientOp> gradients) {
  const bool syncs = syncsEveryMicroStep();
  for (train::GradientOp op : gradients) {
    Value gradient = op.getValue();
    std::string name = accumulatorOf(op.getParameter());
    train::StateOp state = symbols.declareState(name, train::Role::gradient, nn::tensorType(gradient));
    zeroState(symbols.declareEntry("begin_step", state), state);
    OpBuilder start = OpBuilder::atBlockBegin(&microStep.getBody().front());
    Value old = StepBuilder(start, op.getLoc(), symbols).read(name);
    OpBuilder builder(op);
    if (Operation *definition = gradient.getDefiningOp())
      builder.setInsertionPointAfter(definition);
    StepBuilder build(builder, op.getLoc(), symbols);
    if (syncs)
      gradient = build.sumOverRanks(gradient, op.getParameter());
    build.write(name, build.add(old, gradient));
  }
}

Gradients StepUpdate::readAccumulated(train::EntryOp entry, ArrayRef<StringRef> parameters) {
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  StepBuilder build(builder, program.getLoc(), symbols);
  Gradients gradients;
  for (StringRef parameter : parameters)
    gradients.emplace_back(parameter, build.read(accumulatorOf(parameter)));
  return gradients;
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
  if (symbols.state(train::kLossState)) {
    watched.push_back(build.read(train::kLossState));
    if (!alone)
      build.write(train::kLossState, watched.back() = build.sumOverRanks(watched.back()));
  }
  build.finite = buildFiniteFlag(build, watched);
  build.writeReport("grad_norm", norm);
  build.writeReport("finite", build.finite);
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
