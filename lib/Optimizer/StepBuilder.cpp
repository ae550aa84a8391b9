#include "lib/Optimizer/StepBuilder.h"

#include "lib/Optimizer/ChunkNumbers.h"

using namespace mlir;
using namespace trainc;

StepSymbols::StepSymbols(ModuleOp module) : module(module), table(module) {
  for (auto state : module.getOps<train::StateOp>())
    lastState = state;
}

train::StateOp StepSymbols::declareState(StringRef name, train::StateRole role, RankedTensorType type) {
  if (train::StateOp existing = state(name))
    return existing;
  OpBuilder builder(module.getBodyRegion());
  if (lastState)
    builder.setInsertionPointAfter(lastState);
  auto made = train::StateOp::create(builder, module.getLoc(), name, role, type);
  table.insert(made);
  lastState = made;
  return made;
}

train::StateOp StepSymbols::declareScalar(HostScalar scalar) {
  if (train::StateOp existing = train::findScalar(module, scalar))
    return existing;
  train::StateOp made = declareState(stringifyHostScalar(scalar), train::StateRole::scalar,
                                     typeOf(scalar, module.getContext()));
  made.setScalar(scalar);
  return made;
}

train::EntryOp StepSymbols::declareEntry(EntryKind kind, Operation *after) {
  if (auto known = table.lookup<train::EntryOp>(stringifyEntryKind(kind)); known && known.getKind() == kind)
    return known;
  train::EntryOp entry = train::declareEntry(module, kind, after);
  table.insert(entry); // no effect if the entry is known
  return entry;
}

train::EntryOp StepSymbols::cloneEntry(train::EntryOp entry, EntryKind kind) {
  train::EntryOp copy = entry.clone();
  copy.setKind(kind);
  copy.setSymName(stringifyEntryKind(kind));
  table.insert(copy, std::next(entry->getIterator()));
  return copy;
}

Value StepBuilder::read(StringRef state) {
  train::StateOp declared = symbols.state(state);
  return train::GetOp::create(builder, loc, declared.getType(),
                              FlatSymbolRefAttr::get(declared.getSymNameAttr()));
}

Value StepBuilder::readScalar(HostScalar scalar) { return read(symbols.declareScalar(scalar).getSymName()); }

void StepBuilder::write(StringRef state, Value value) {
  train::SetOp::create(builder, loc, FlatSymbolRefAttr::get(builder.getContext(), state), value);
}

static std::string optimizerStateName(StringRef kind, StringRef parameter) {
  return parameter.empty() ? kind.str() : (kind + "." + parameter).str();
}

/// Returns the members renamed to `KIND.NAME`, with that element type.
static ArrayAttr renamed(ArrayAttr members, StringRef kind, Type element) {
  auto rename = [&](train::MemberAttr member) -> Attribute {
    return train::MemberAttr::get(members.getContext(), (kind + "." + member.getName()).str(),
                                  member.getOffset(),
                                  cast<RankedTensorType>(member.getType().clone(element)));
  };
  return ArrayAttr::get(members.getContext(),
                        llvm::map_to_vector(members.getAsRange<train::MemberAttr>(), rename));
}

Value StepBuilder::readOptimizerState(StringRef kind, RankedTensorType type, StringRef parameter,
                                      double initial) {
  const std::string name = optimizerStateName(kind, parameter);
  if (!symbols.state(name)) {
    if (moments && !parameter.empty())
      type = type.clone(moments);
    train::StateOp declared = symbols.declareState(name, train::StateRole::optimizer, type);
    if (train::StateOp flat = symbols.state(parameter); flat && flat.getMembers())
      declared.setMembersAttr(renamed(flat.getMembersAttr(), kind, type.getElementType()));
    fillState(symbols.declareEntry(EntryKind::init, declared), declared, initial);
  }
  return wide(read(name));
}

void StepBuilder::replaceOptimizerState(StringRef kind, Value old, Value updated, StringRef parameter) {
  replaceHeld(optimizerStateName(kind, parameter), kind, old, updated, parameter);
}

void StepBuilder::replaceParameter(StringRef state, Value old, Value updated) {
  replaceHeld(state, "parameter", old, updated, state);
}

void StepBuilder::replaceHeld(StringRef state, StringRef kind, Value old, Value updated,
                              StringRef parameter) {
  const Type type = symbols.state(state).getType();
  if (!cast<RankedTensorType>(type).getElementType().isBF16())
    return replace(state, old, updated);
  auto widened = cast<nn::ConvertOp>(old.getDefiningOp());
  replace(state, widened.getX(), roundAtRandom(updated, kind, parameter));
}

Value StepBuilder::roundAtRandom(Value x, StringRef kind, StringRef parameter) {
  if (!seed) {
    seed = readScalar(HostScalar::seed);
    step = readScalar(HostScalar::step);
  }
  const uint64_t draw = draws.try_emplace(kind, draws.size()).first->second;
  return create<nn::StochasticRoundOp>(x, chunksOf(parameter), seed, step, draw).getResult();
}

Value StepBuilder::chunksOf(StringRef parameter) {
  Value &known = chunks[parameter];
  if (!known) {
    train::StateOp flat = symbols.state(parameter);
    Value numbers = read(declareChunks(symbols, flat).getSymName());
    Value rows = broadcastLast(numbers, {nn::tensorType(numbers).getNumElements(), nn::kDrawnChunk});
    known = reshape(rows, cast<RankedTensorType>(flat.getType()).getShape());
  }
  return known;
}

/// The flag is compared in each kernel that uses it, so that kernels exchange numbers only, no i1.
void StepBuilder::replace(StringRef state, Value old, Value updated) {
  Value flag = broadcastTo(finite, nn::shapeOf(old));
  Value condition = compare(nn::Predicate::gt, flag, constantLike(flag, 0));
  write(state, select(condition, updated, old));
}

void StepBuilder::writeReport(HostScalar scalar, Value value) {
  write(symbols.declareScalar(scalar).getSymName(), value);
}

Value StepBuilder::sumOverRanks(Value value, StringRef of) {
  auto state = of.empty() ? FlatSymbolRefAttr() : FlatSymbolRefAttr::get(builder.getContext(), of);
  return train::SumOverRanksOp::create(builder, loc, value, state);
}

Value StepBuilder::maxOverRanks(Value value) { return train::MaxOverRanksOp::create(builder, loc, value); }

Value StepBuilder::learningRate(double scale) {
  Value &rate = rates[scale];
  if (!rate) {
    rate = readScalar(HostScalar::lr);
    if (scale != 1)
      rate = mul(rate, scale);
  }
  return rate;
}

void trainc::fillState(train::EntryOp entry, train::StateOp state, double value) {
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  auto type = cast<RankedTensorType>(state.getType());
  Value filled = nn::TensorBuilder(builder, state.getLoc()).constant(value, type);
  train::SetOp::create(builder, state.getLoc(), state.getSymName(), filled);
}
