#include "lib/Instantiate/Scopes.h"

#include "dialects/NN/Syntax.h"
#include "lib/Analysis/InitialValue.h"

using namespace mlir;
using namespace trainc;

EntryScope::EntryScope(OpBuilder &builder, StateTable &states, ParameterTable &parameters,
                       int64_t sequenceLength, bool training)
    : builder(builder), states(states), parameters(parameters), length(sequenceLength), isTraining(training) {
  builder.setListener(this);
}

EntryScope::~EntryScope() { builder.setListener(nullptr); }

std::string EntryScope::fullName(StringRef name) const { return joinPath(path, name); }

EntryScope::Enter::Enter(EntryScope &scope, StringRef component, StringRef block)
    : scope(scope), outerLength(scope.path.size()) {
  scope.path = joinPath(scope.path, component);
  scope.blocks.push_back(train::BlockAttr::get(scope.builder.getContext(), scope.path, block));
}

void EntryScope::startOp(Operation *op) { current = op; }

void EntryScope::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) {
  std::string name = path;
  if (auto layer = dyn_cast_or_null<LayerOpInterface>(current))
    name = fullName(layer.getName());
  if (!name.empty())
    op->setLoc(NameLoc::get(builder.getStringAttr(name), op->getLoc()));
}

// --- Parameters ---

Parameter *EntryScope::declare(StringAttr name, RankedTensorType type, Initializer init) {
  auto known = parameters.find(name);
  if (known != parameters.end())
    return &known->second;
  train::StateOp state = states.declare(current->getLoc(), name, train::StateRole::parameter, type);
  if (state && !blocks.empty())
    state.setBlocksAttr(builder.getArrayAttr(blocks));
  return state ? &parameters.insert({name, {state, init}}).first->second : nullptr;
}

Value EntryScope::declareParameter(StringRef name, RankedTensorType type, Initializer init) {
  auto full = builder.getStringAttr(fullName(name));
  if (auto [where, isNew] = declared.try_emplace(full, current->getLoc()); !isNew) {
    InFlightDiagnostic error = current->emitError("parameter ") << full << " is declared twice";
    error.attachNote(where->second)
        << "the first declaration is here; give one of the two another name or scope";
    return {};
  }
  auto error = [&] { return current->emitError("parameter ") << full << ": "; };
  if (type.getEncoding()) {
    error() << type << " has more than sizes and an element type; expected e.g. tensor<8xf32>";
    return {};
  }
  if (failed(nn::checkSizes(type.getShape(), error)))
    return {};
  Parameter *parameter = declare(full, type, init);
  if (!parameter)
    return {};
  if (parameter->state.getType() != type) {
    error() << "expected " << parameter->state.getType() << ", as for training, found " << type
            << " for another number of samples or positions, on which no parameter's size may depend";
    return {};
  }
  return read(parameter->state);
}

Value EntryScope::useParameter(StringRef fullName) {
  auto name = builder.getStringAttr(fullName);
  if (declared.contains(name))
    return read(parameters.find(name)->second.state);
  reportUnknown(fullName);
  return {};
}

void EntryScope::reportUnknown(StringRef name) {
  InFlightDiagnostic error = current->emitError("no parameter '")
                             << name
                             << "' is declared before this; expected a full name from the model's root";
  // The order of declaration makes the choice among equally close names deterministic.
  SmallVector<StringRef> names;
  for (auto &[known, parameter] : parameters)
    if (declared.contains(known))
      names.push_back(known);
  if (StringRef nearest = nearestName(name, names); !nearest.empty())
    error << "; did you mean '" << nearest << "'?";
}

FailureOr<int64_t> EntryScope::randomStream(StringRef name) {
  auto full = builder.getStringAttr(fullName(name));
  if (auto [where, isNew] = streams.try_emplace(full, current->getLoc()); !isNew) {
    InFlightDiagnostic error = current->emitError("random numbers ") << full << " are drawn twice";
    error.attachNote(where->second)
        << "the first time is here, with the same numbers; give one of the two another name or scope";
    return error;
  }
  return randomStreamOf(full);
}

// --- Reading states ---

Value EntryScope::read(train::StateOp state) {
  Value &value = values[state];
  if (!value)
    value = getState(builder, current->getLoc(), state);
  return value;
}

Value EntryScope::counter(HostScalar scalar) { return read(states.scalar(scalar)); }
