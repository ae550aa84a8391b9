// Builds ops that read and write states in one entry of a step.
#include "lib/Optimizer/StepBuilder.h"

using namespace mlir;
using namespace trainc;

Value StepBuilder::read(StringRef state) {
  train::StateOp declared = symbols.state(state);
  return train::GetOp::create(builder, loc, declared.getType(),
                              FlatSymbolRefAttr::get(declared.getSymNameAttr()));
}

void StepBuilder::write(StringRef state, Value value) {
  train::SetOp::create(builder, loc, FlatSymbolRefAttr::get(builder.getContext(), state), value);
}

/// The members with names `KIND.NAME`.
static ArrayAttr renamed(ArrayAttr members, StringRef kind) {
  auto rename = [&](train::MemberAttr member) -> Attribute {
    return train::MemberAttr::get(members.getContext(), (kind + "." + member.getName()).str(),
                                  member.getOffset(), member.getType());
  };
  return ArrayAttr::get(members.getContext(),
                        llvm::map_to_vector(members.getAsRange<train::MemberAttr>(), rename));
}

Value StepBuilder::readOptimizerState(StringRef state, RankedTensorType type) {
  if (!symbols.state(state)) {
    train::StateOp declared = symbols.declareState(state, train::Role::optimizer, type);
    auto [kind, parameter] = state.split('.');
    if (train::StateOp flat = symbols.state(parameter); flat && flat.getMembers())
      declared.setMembersAttr(renamed(flat.getMembersAttr(), kind));
    zeroState(symbols.declareEntry("init", declared), declared);
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
  symbols.declareState(scalar, train::Role::scalar, nn::tensorType(value), train::Direction::from_device);
  write(scalar, value);
}

Value StepBuilder::sumOverRanks(Value value, StringRef of) {
  auto state = of.empty() ? FlatSymbolRefAttr() : FlatSymbolRefAttr::get(builder.getContext(), of);
  return train::SumOverRanksOp::create(builder, loc, value, state);
}

Value StepBuilder::learningRate(double scale) {
  Value &rate = rates[scale];
  if (!rate) {
    auto type = RankedTensorType::get({}, builder.getF32Type());
    symbols.declareState("lr", train::Role::scalar, type, train::Direction::to_device);
    rate = read("lr");
    if (scale != 1)
      rate = mul(rate, scale);
  }
  return rate;
}

void trainc::zeroState(train::EntryOp entry, train::StateOp state) {
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  Value zero = nn::TensorBuilder(builder, state.getLoc()).zero(cast<RankedTensorType>(state.getType()));
  train::SetOp::create(builder, state.getLoc(), state.getSymName(), zero);
}
