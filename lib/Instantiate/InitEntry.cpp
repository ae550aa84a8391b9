// init: the parameters' first values.
#include "dialects/NN/Builders.h"
#include "lib/Instantiate/Entries.h"

using namespace mlir;
using namespace trainc;

/// Random numbers of the parameter's own stream: they depend on the seed and the name only.
static Value buildRandom(OpBuilder &builder, StateTable &states, train::StateOp state, bool normal) {
  auto type = cast<RankedTensorType>(state.getType());
  nn::TensorBuilder b(builder, state.getLoc());
  Value seed = getState(builder, state.getLoc(), states.scalar(HostScalar::seed));
  Value zero = b.zero(RankedTensorType::get({}, builder.getI64Type()));
  int64_t stream = randomStreamOf(("init " + state.getSymName()).str());
  return b.create<nn::RandomOp>(seed, zero, zero, normal, uint64_t(stream), type);
}

static Value buildInitialValue(OpBuilder &builder, StateTable &states, const Parameter &parameter) {
  train::StateOp state = parameter.state;
  const Initializer &init = parameter.init;
  auto type = cast<RankedTensorType>(state.getType());
  nn::TensorBuilder b(builder, state.getLoc());
  if (init.kind == "normal")
    return b.mul(buildRandom(builder, states, state, /*normal=*/true), init.a);
  if (init.kind == "uniform")
    return b.add(b.mul(buildRandom(builder, states, state, /*normal=*/false), init.b - init.a), init.a);
  return b.constant(init.kind == "ones" ? 1 : init.kind == "constant" ? init.a : 0, type);
}

void trainc::buildInit(Instantiation &shared, train::EntryOp entry) {
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  for (auto &[name, parameter] : shared.parameters)
    setState(builder, parameter.state.getLoc(), parameter.state,
             buildInitialValue(builder, shared.states, parameter));
}
