// Builds ops that read and write states in one entry of a step.
#include "lib/Optimizer/StepBuilder.h"

using namespace mlir;
using namespace trainc;

static ModuleOp moduleOf(OpBuilder &builder) {
  return builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
}

Value StepBuilder::read(StringRef state) {
  auto declared = moduleOf(builder).lookupSymbol<train::StateOp>(state);
  return train::GetOp::create(builder, loc, declared.getType(),
                              FlatSymbolRefAttr::get(declared.getSymNameAttr()));
}

void StepBuilder::write(StringRef state, Value value) {
  train::SetOp::create(builder, loc, FlatSymbolRefAttr::get(builder.getContext(), state), value);
}

Value StepBuilder::readOptimizerState(StringRef state, RankedTensorType type) {
  ModuleOp module = moduleOf(builder);
  if (!module.lookupSymbol(state)) {
    train::StateOp declared = declareState(module, state, train::Role::optimizer, type);
    zeroState(declareEntry(module, "init", declared), declared);
  }
  return read(state);
}

/// The flag is compared where it is used, so that only numbers pass between kernels.
void StepBuilder::replace(StringRef state, Value old, Value updated) {
  Value flag = broadcastTo(finite, nn::shapeOf(old));
  Value condition = compare(nn::Predicate::gt, flag, constantLike(flag, 0));
  write(state, select(condition, updated, old));
}

void StepBuilder::writeReport(StringRef scalar, Value value) {
  declareState(moduleOf(builder), scalar, train::Role::scalar, nn::tensorType(value),
               train::Direction::from_device);
  write(scalar, value);
}

Value StepBuilder::learningRate(double scale) {
  Value &rate = rates[scale];
  if (!rate) {
    auto type = RankedTensorType::get({}, builder.getF32Type());
    declareState(moduleOf(builder), "lr", train::Role::scalar, type, train::Direction::to_device);
    rate = read("lr");
    if (scale != 1)
      rate = mul(rate, scale);
  }
  return rate;
}

train::StateOp trainc::declareState(ModuleOp module, StringRef name, train::Role role, RankedTensorType type,
                                    std::optional<train::Direction> direction) {
  if (auto existing = module.lookupSymbol<train::StateOp>(name))
    return existing;
  auto states = module.getOps<train::StateOp>();
  OpBuilder builder(module.getBodyRegion());
  for (train::StateOp state : states)
    builder.setInsertionPointAfter(state);
  auto directionAttr =
      direction ? train::DirectionAttr::get(module.getContext(), *direction) : train::DirectionAttr();
  return train::StateOp::create(builder, module.getLoc(), builder.getStringAttr(name),
                                train::RoleAttr::get(module.getContext(), role), TypeAttr::get(type),
                                UnitAttr(), directionAttr);
}

train::EntryOp trainc::declareEntry(ModuleOp module, StringRef name, Operation *after) {
  if (auto existing = module.lookupSymbol<train::EntryOp>(name))
    return existing;
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(after);
  auto entry = train::EntryOp::create(builder, module.getLoc(), name);
  entry.getBody().emplaceBlock();
  return entry;
}

void trainc::zeroState(train::EntryOp entry, train::StateOp state) {
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  StepBuilder build(builder, state.getLoc());
  build.write(state.getSymName(), build.zero(cast<RankedTensorType>(state.getType())));
}
