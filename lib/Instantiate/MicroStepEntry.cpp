// micro_step: forward of one micro-batch.
#include "dialects/NN/Builders.h"
#include "lib/Instantiate/Entries.h"

using namespace mlir;
using namespace trainc;

SmallVector<Value> trainc::createInputs(OpBuilder &builder, nn::ModelOp model, BatchExtent extent,
                                        int64_t batch, int64_t length) {
  SmallVector<Value> inputs;
  for (auto [argument, column, type] : llvm::zip(model.getBody().getArguments(), model.getColumns(),
                                                 model.getArgumentTypes().getAsValueRange<TypeAttr>()))
    inputs.push_back(train::InputOp::create(builder, argument.getLoc(),
                                            Binding::bind(cast<RankedTensorType>(type), batch, length),
                                            cast<StringAttr>(column).getValue(), extent));
  return inputs;
}

/// The sum of all losses' means, each times its scale.
static Value buildTotalLoss(OpBuilder &builder, Instantiation &shared, ArrayRef<LossTerm> losses) {
  Value total;
  for (auto [index, term] : llvm::enumerate(losses)) {
    nn::TensorBuilder b(builder, term.loc);
    Value targets = getState(builder, term.loc, targetsState(shared.states, term, index));
    Value mean = buildMean(builder, term.loc, buildLossSum(builder, term), targets);
    Value scaled = term.scale == 1 ? mean : b.mul(mean, term.scale);
    total = total ? b.add(total, scaled) : scaled;
  }
  return total;
}

FailureOr<Forward> trainc::buildMicroStep(Instantiation &shared, train::EntryOp entry) {
  Binding &binding = shared.binding;
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  auto inputs = createInputs(builder, binding.model, BatchExtent::micro, binding.microBatch, binding.seqLen);
  FailureOr<Forward> forward;
  {
    EntryScope scope(builder, shared.states, shared.parameters, /*training=*/true);
    forward = buildForward(binding.model, builder, scope, inputs);
  }
  if (failed(forward))
    return failure();
  if (forward->losses.empty())
    return binding.model.emitError(
        "the model has no nn.loss, so there is nothing to train for; expected e.g. `nn.loss "
        "\"loss\" %nll`");
  Location loc = forward->losses.front().loc;
  Value total = buildTotalLoss(builder, shared, forward->losses);
  train::StateOp sum = shared.states.scalar(HostScalar::loss);
  setState(builder, loc, sum, nn::TensorBuilder(builder, loc).add(getState(builder, loc, sum), total));
  train::MinimizeOp::create(builder, loc, total);
  return forward;
}
