// eval: loss and targets of a batch, without dropout.
#include "dialects/NN/Builders.h"
#include "lib/Instantiate/DimensionFlow.h"
#include "lib/Instantiate/Entries.h"

using namespace mlir;
using namespace trainc;

/// The targets of a batch: summed weights, or the number of elements.
static Value buildTargets(OpBuilder &builder, const LossTerm &term) {
  if (std::optional<Value> weights = buildTargetWeights(builder, term))
    return buildSum(builder, term.loc, *weights);
  auto f32 = RankedTensorType::get({}, builder.getF32Type());
  return nn::TensorBuilder(builder, term.loc).constant(double(countElements(term)), f32);
}

/// Says with which columns the host fills up an incomplete batch, if every loss ignores such samples and they
/// reach no other.
static void markPadding(ArrayRef<LossTerm> losses, int64_t batch) {
  auto columns = llvm::map_to_vector(losses, ignoringColumn);
  if (llvm::is_contained(columns, train::InputOp()))
    return;
  auto values = llvm::map_to_vector(losses, [](const LossTerm &term) { return term.value; });
  if (Operation *op = batch == 1 ? nullptr : findCombinedSamples(values, batch)) {
    emitRemark(op->getLoc()) << "evaluation leaves out the samples of an incomplete last batch: samples of a "
                                "batch are combined here, so that what fills it up would change their losses";
    return;
  }
  for (train::InputOp column : columns)
    column.setPads(true);
}

LogicalResult trainc::buildEval(Instantiation &shared, train::EntryOp entry) {
  Binding &binding = shared.binding;
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  auto inputs = createInputs(builder, binding.model, BatchExtent::micro, binding.evalBatch, binding.seqLen);
  FailureOr<Forward> forward;
  {
    EntryScope scope(builder, shared.states, shared.parameters, /*training=*/false);
    forward = buildForward(binding.model, builder, scope, inputs);
  }
  if (failed(forward))
    return failure();
  markPadding(forward->losses, binding.evalBatch);
  // The host divides summed losses by summed targets, those of the first loss; so further losses' means count
  // as often as the first has targets.
  Value total, targets;
  for (const LossTerm &term : forward->losses) {
    nn::TensorBuilder b(builder, term.loc);
    Value own = buildTargets(builder, term), sum = buildLossSum(builder, term);
    targets = targets ? targets : own;
    if (total)
      sum = b.mul(buildMean(builder, term.loc, sum, own), targets);
    sum = term.scale == 1 ? sum : b.mul(sum, term.scale);
    total = total ? b.add(total, sum) : sum;
  }
  Location loc = forward->losses.front().loc;
  setState(builder, loc, shared.states.scalar(HostScalar::eval_loss), total);
  setState(builder, loc, shared.states.scalar(HostScalar::eval_targets), targets);
  eraseDeadOps(entry);
  return success();
}
