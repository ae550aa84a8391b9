// begin_step: what the step's losses are divided by, from the labels of all its micro-batches.
#include "dialects/NN/Builders.h"
#include "dialects/Train/Names.h"
#include "lib/Instantiate/Entries.h"

using namespace mlir;
using namespace trainc;

LogicalResult trainc::buildBeginStep(Instantiation &shared, train::EntryOp entry, const Forward &micro) {
  Binding &binding = shared.binding;
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  // The model is expanded on the whole step's samples; of that, only what the targets' weights need survives.
  auto inputs = createInputs(builder, binding.model, train::Extent::step,
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
    std::optional<Value> sum = buildTargetSum(builder, term);
    if (sum && binding.ranks > 1)
      sum = train::SumOverRanksOp::create(builder, term.loc, *sum);
    setState(builder, term.loc, targetsState(shared.states, term, index),
             sum ? *sum : b.constant(double(elements), f32));
  }
  Location loc = step->losses.front().loc;
  setState(builder, loc, shared.states.lookup(train::kLossState), nn::TensorBuilder(builder, loc).zero(f32));
  eraseDeadOps(entry);
  return success();
}
