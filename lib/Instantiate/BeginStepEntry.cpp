// begin_step: what the step's losses are divided by, from the labels of all its micro-batches.
#include "dialects/NN/Builders.h"
#include "dialects/Train/Sharding.h"
#include "lib/Instantiate/Entries.h"

using namespace mlir;
using namespace trainc;

/// Element by element the sum over micro-batches of `x`, in which they lie one after the other, over a binary
/// tree. The leading 1 is nothing that ranks could divide among themselves.
static Value sumMicroBatches(nn::TensorBuilder &b, Value x, int64_t count) {
  const int64_t elements = nn::tensorType(x).getNumElements() / count;
  for (; count > 1; count /= 2) {
    Value pairs = b.reshape(x, {count / 2, 2, elements});
    x = b.add(b.slice(pairs, 1, 0, 1), b.slice(pairs, 1, 1, 1));
  }
  return b.reshape(x, {1, elements});
}

/// The sum of the targets' weights over micro-batches and ranks. To be the same on any number of ranks, it is
/// the elements' sum of what micro-batches add up to.
static Value sumTargets(OpBuilder &builder, Location loc, const Binding &binding, Value weights) {
  const bool overTree = train::shardingOf(binding.program).reproducibleOverRanks;
  nn::TensorBuilder b(builder, loc);
  Value sum = overTree ? sumMicroBatches(b, b.convert(weights, builder.getF32Type()), binding.accumulate)
                       : buildSum(builder, loc, weights);
  if (binding.ranks > 1)
    sum = train::SumOverRanksOp::create(builder, loc, sum, FlatSymbolRefAttr());
  return overTree ? buildSum(builder, loc, sum) : sum;
}

LogicalResult trainc::buildBeginStep(Instantiation &shared, train::EntryOp entry, const Forward &micro) {
  Binding &binding = shared.binding;
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  // The model is expanded on the whole step's samples; of that, only what the targets' weights need survives.
  auto inputs = createInputs(builder, binding.model, BatchExtent::step,
                             binding.accumulate * binding.microBatch, binding.seqLen);
  FailureOr<Forward> step;
  {
    EntryScope scope(builder, shared.states, shared.parameters, /*training=*/false);
    step = buildForward(binding.model, builder, scope, inputs);
  }
  if (failed(step))
    return failure();
  auto f32 = RankedTensorType::get({}, builder.getF32Type());
  for (auto [index, term] : llvm::enumerate(step->losses)) {
    nn::TensorBuilder b(builder, term.loc);
    int64_t elements = binding.ranks * binding.accumulate * countElements(micro.losses[index]);
    std::optional<Value> weights = buildTargetWeights(builder, term);
    setState(builder, term.loc, targetsState(shared.states, term, index),
             weights ? sumTargets(builder, term.loc, binding, *weights) : b.constant(double(elements), f32));
  }
  Location loc = step->losses.front().loc;
  setState(builder, loc, shared.states.scalar(HostScalar::loss), nn::TensorBuilder(builder, loc).zero(f32));
  eraseDeadOps(entry);
  return success();
}
