// prefill and decode: the logits of the next token, from a whole prompt or from one more token.
#include "dialects/NN/Builders.h"
#include "lib/Instantiate/Entries.h"
#include "lib/Instantiate/KeyValueCache.h"
#include "lib/Instantiate/PositionSelect.h"

using namespace mlir;
using namespace trainc;

/// Nobody knows another column's values for tokens that are yet to come.
static LogicalResult refuseOtherColumns(train::EntryOp entry) {
  for (auto input : entry.getBody().getOps<train::InputOp>())
    if (input.getColumn() != "tokens")
      return emitError(input.getLoc()) << "the logits depend on column '" << input.getColumn()
                                       << "', and only tokens are known while text is generated";
  return success();
}

/// Replaces ops that go along the sequence by their forms for generation. In a sequence of one position every
/// op is what it is.
static LogicalResult makeIncremental(train::EntryOp entry, CacheScope &caches, ArrayRef<bool> alongSequence) {
  for (auto [op, isAlong] :
       llvm::zip(llvm::to_vector(entry.getBody().getOps<IncrementalOpInterface>()), alongSequence)) {
    if (!isAlong)
      continue;
    OpBuilder builder(op);
    SmallVector<Value> results = op.buildIncremental(builder, caches);
    if (results.empty())
      return failure();
    for (auto [old, replacement] : llvm::zip(op->getResults(), results))
      if (replacement)
        old.replaceAllUsesWith(replacement);
    op->erase();
  }
  return success();
}

/// The position of the last token that the entry is given.
static Value readPosition(Instantiation &shared, OpBuilder &builder) {
  train::StateOp state = shared.states.scalar(HostScalar::position);
  return getState(builder, shared.binding.model.getLoc(), state);
}

/// The forward of `length` tokens (1, or as many as `dims` is for), up to the logits [1, 1, vocabulary] at
/// `position`; of the rest nothing is left.
static FailureOr<Value> buildLogits(Instantiation &shared, OpBuilder &builder, int64_t length,
                                    const PositionDims &dims, Value position) {
  nn::ModelOp model = shared.binding.model;
  auto inputs = createInputs(builder, model, BatchExtent::micro, /*batch=*/1, length);
  Operation *last = findLastMixingOp(model);
  EntryScope scope(builder, shared.states, shared.parameters, /*training=*/false);
  FailureOr<Forward> forward =
      buildForward(model, builder, scope, inputs, [&](Operation *op, IRMapping &values) {
        if (op == last && length > 1)
          selectAfter(last, values, builder, dims, length, position);
      });
  if (failed(forward))
    return failure();
  Value logits = forward->outputs.lookup("logits");
  return nn::shapeOf(logits)[1] == 1 ? logits : selectPosition(builder, logits, position);
}

static LogicalResult buildEntry(Instantiation &shared, EntryKind kind, int64_t length,
                                const PositionFlow &flow) {
  train::EntryOp entry = shared.states.createEntry(kind);
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  Value position = readPosition(shared, builder);
  FailureOr<Value> logits = buildLogits(shared, builder, length, flow.dims, position);
  if (failed(logits))
    return failure();
  Location loc = logits->getLoc();
  auto type = nn::typeLike(*logits, {nn::shapeOf(*logits).back()});
  train::StateOp state = shared.states.lookup("logits");
  if (!state)
    state = shared.states.declare(loc, "logits", train::StateRole::output, type);
  setState(builder, loc, state, nn::TensorBuilder(builder, loc).reshape(*logits, type.getShape()));
  eraseDeadOps(entry);
  // A prompt starts at 0, wherever it ends; a further token stands where it is.
  builder.setInsertionPointToStart(&entry.getBody().front());
  auto i32 = RankedTensorType::get({}, builder.getI32Type());
  Value first = length == 1 ? readPosition(shared, builder) : nn::TensorBuilder(builder, loc).zero(i32);
  KeyValueCache caches(shared.states, first, shared.binding.seqLen);
  if (failed(makeIncremental(entry, caches, flow.alongSequence)))
    return failure();
  eraseDeadOps(entry); // segments, too: there is one
  return refuseOtherColumns(entry);
}

LogicalResult trainc::buildGenerationEntries(Instantiation &shared, const PositionFlow &flow) {
  return failure(failed(buildEntry(shared, EntryKind::prefill, shared.binding.seqLen, flow)) ||
                 failed(buildEntry(shared, EntryKind::decode, 1, flow)));
}
