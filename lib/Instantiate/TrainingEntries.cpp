// Entries of training and evaluation: init, begin_step, micro_step and eval.
#include "dialects/NN/Builders.h"
#include "dialects/Train/Sharding.h"
#include "lib/Analysis/InitialValue.h"
#include "lib/Instantiate/DimensionFlow.h"
#include "lib/Instantiate/Entries.h"
#include "lib/Support/SourceName.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace trainc;

// --- init: the parameters' first values ---

void trainc::buildInit(Instantiation &shared, train::EntryOp entry) {
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  for (auto &[name, parameter] : shared.parameters)
    setState(builder, parameter.state.getLoc(), parameter.state,
             buildInitialValue(builder, parameter.state, parameter.init));
}

// --- begin_step: what the step's losses are divided by, from the labels of all its micro-batches ---

/// Sums `x`, the concatenation of `count` micro-batches, over micro-batches in a binary tree. The result has
/// a leading dimension of 1, which cannot be sharded.
static Value sumMicroBatches(nn::TensorBuilder &b, Value x, int64_t count) {
  const int64_t elements = nn::tensorType(x).getNumElements() / count;
  for (; count > 1; count /= 2) {
    Value pairs = b.reshape(x, {count / 2, 2, elements});
    x = b.add(b.slice(pairs, 1, 0, 1), b.slice(pairs, 1, 1, 1));
  }
  return b.reshape(x, {1, elements});
}

/// Returns the sum of the targets' weights over micro-batches and ranks. With `reproducible ranks`,
/// micro-batches are summed first and elements second, so that the bits do not depend on the number of ranks.
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
  // The model is expanded on all samples of the step; ops that the targets' weights do not need are erased.
  auto inputs = createInputs(builder, binding.model, BatchExtent::step,
                             binding.accumulate * binding.microBatch, binding.seqLen);
  FailureOr<Forward> step;
  {
    EntryScope scope(builder, shared.states, shared.parameters, shared.binding.seqLen, /*training=*/false);
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

// --- micro_step: the forward of a micro-batch ---

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

FailureOr<Forward> trainc::expandOutsideModule(Instantiation &shared, int64_t batch, int64_t length,
                                               OwningOpRef<train::EntryOp> &entry) {
  nn::ModelOp model = shared.binding.model;
  OpBuilder builder(model.getContext());
  entry = train::EntryOp::create(builder, model.getLoc(), EntryKind::eval);
  builder.setInsertionPointToEnd(&entry->getBody().emplaceBlock());
  auto inputs = createInputs(builder, model, BatchExtent::micro, batch, length);
  EntryScope scope(builder, shared.states, shared.parameters, shared.binding.seqLen, /*training=*/false);
  return buildForward(model, builder, scope, inputs);
}

/// Returns the sum of all losses' means, each times its scale.
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

/// Builds inputs of `batch` samples and the forward pass of the model.
static FailureOr<Forward> buildForwardOf(int64_t batch, bool training, OpBuilder &builder,
                                         Instantiation &shared) {
  Binding &binding = shared.binding;
  auto inputs = createInputs(builder, binding.model, BatchExtent::micro, batch, binding.seqLen);
  EntryScope scope(builder, shared.states, shared.parameters, binding.seqLen, training);
  return buildForward(binding.model, builder, scope, inputs);
}

FailureOr<Forward> trainc::buildMicroStep(Instantiation &shared, train::EntryOp entry) {
  Binding &binding = shared.binding;
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  FailureOr<Forward> forward = buildForwardOf(binding.microBatch, /*training=*/true, builder, shared);
  if (failed(forward))
    return failure();
  if (forward->losses.empty())
    return binding.model.emitError(
        "the model has no nn.loss, so there is nothing to train for; expected e.g. `nn.loss \"loss\" %nll`");
  Location loc = forward->losses.front().loc;
  Value total = buildTotalLoss(builder, shared, forward->losses);
  train::StateOp sum = shared.states.scalar(HostScalar::loss);
  setState(builder, loc, sum, nn::TensorBuilder(builder, loc).add(getState(builder, loc, sum), total));
  train::MinimizeOp::create(builder, loc, total);
  return forward;
}

// --- eval: sums over an evaluation batch ---

/// Returns the targets of a batch: the sum of weights, or the number of elements.
static Value buildTargets(OpBuilder &builder, const LossTerm &term) {
  if (std::optional<Value> weights = buildTargetWeights(builder, term))
    return buildSum(builder, term.loc, *weights);
  auto f32 = RankedTensorType::get({}, builder.getF32Type());
  return nn::TensorBuilder(builder, term.loc).constant(double(countElements(term)), f32);
}

/// The first op that computes a sample's losses from other samples as well; null if none does.
static Operation *findCombination(ArrayRef<LossTerm> losses, int64_t batch) {
  return findCombinedSamples(llvm::map_to_vector(losses, [](const LossTerm &term) { return term.value; }),
                             batch);
}

/// Returns the location at which samples of a micro-batch are combined, if any. A batch of one sample shows
/// nothing, because a dimension of 1 broadcasts to any size; a larger batch is examined instead.
static std::optional<Location> placeOfCombination(Instantiation &shared, const Forward &micro) {
  const int64_t batch = shared.binding.microBatch;
  const auto placeIn = [](const Forward &forward, int64_t samples) {
    Operation *op = findCombination(forward.losses, samples);
    return op ? std::optional(op->getLoc()) : std::nullopt;
  };
  if (batch > 1)
    return placeIn(micro, batch);
  OwningOpRef<train::EntryOp> entry;
  ScopedDiagnosticHandler quiet(shared.binding.module.getContext(), [](Diagnostic &) { return success(); });
  const FailureOr<Forward> pair = expandOutsideModule(shared, 2, shared.binding.seqLen, entry);
  return succeeded(pair) ? placeIn(*pair, 2) : std::nullopt; // a model may accept batches of one sample only
}

void trainc::noteCombinedSamples(Instantiation &shared, const Forward &micro) {
  const Binding &binding = shared.binding;
  const int64_t parts = binding.accumulate * binding.ranks;
  const std::optional<Location> place = placeOfCombination(shared, micro);
  if (!place)
    return;
  shared.binding.program.setCombinedSamples(placeText(*place));
  if (parts > 1)
    emitWarning(*place)
        << "samples of a micro-batch are combined here: the loss of a step is the mean of those of " << parts
        << " micro-batches of " << binding.microBatch << " samples, not that of "
        << parts * binding.microBatch
        << " samples together; to combine more, make --micro-batch larger and --accumulate smaller";
  if (binding.evalBatch != binding.microBatch)
    emitWarning(*place)
        << "samples of a batch are combined here: the loss of evaluation is that of batches of "
        << binding.evalBatch << " samples, and training's that of " << binding.microBatch
        << "; for the same one, leave --eval-batch out";
}

/// Marks the columns with which the host can pad an incomplete batch, if every loss ignores padded samples
/// and these do not affect other samples.
static void markPadding(ArrayRef<LossTerm> losses, int64_t batch) {
  auto columns = llvm::map_to_vector(losses, ignoringColumn);
  if (llvm::is_contained(columns, train::InputOp()))
    return;
  if (Operation *op = batch == 1 ? nullptr : findCombination(losses, batch)) {
    emitRemark(op->getLoc()) << "evaluation leaves out the samples of an incomplete last batch: samples of a "
                                "batch are combined here, so that padding would change their losses";
    return;
  }
  for (train::InputOp column : columns)
    column.setPads(true);
}

LogicalResult trainc::buildEval(Instantiation &shared, train::EntryOp entry) {
  Binding &binding = shared.binding;
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  FailureOr<Forward> forward = buildForwardOf(binding.evalBatch, /*training=*/false, builder, shared);
  if (failed(forward))
    return failure();
  markPadding(forward->losses, binding.evalBatch);
  binding.program.setLikelihood(forward->losses.size() == 1 && isLogLikelihood(forward->losses.front()));
  // The host divides the summed losses by the targets of the first loss. The means of further losses are
  // therefore multiplied by that number.
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

// --- What all entries share ---

void trainc::eraseDeadOps(train::EntryOp entry) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}
