// Entries of generation, prefill and decode: whether a program gets them, the reason if it does not, and
// their construction.
#include "dialects/NN/Builders.h"
#include "lib/Instantiate/Entries.h"
#include "lib/Instantiate/PositionFlow.h"
#include "lib/Instantiate/PositionSelect.h"
#include "lib/Support/SourceName.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace trainc;

// --- Keys and values of earlier positions ---

namespace {
/// Keys and values of earlier positions. The caches are states `cache.0`, `cache.1`, ... in the order in
/// which ops append to them. Prefill and decode share them. In a cache of n rows, position p has the row p
/// mod n, so that the cache of a window of n positions holds the last n positions.
class KeyValueCache : public CacheScope {
public:
  /// `first` and `last` are the positions of the entry's first token and of the text's last one.
  KeyValueCache(StateTable &states, Value first, Value last, int64_t capacity)
      : states(states), first(first), last(last), size(capacity) {}

  Value position() override { return first; }
  CachedRows append(OpBuilder &builder, Value rows, std::optional<int64_t> window) override;

private:
  CachedRows appendOne(OpBuilder &builder, Value row, train::StateOp state);
  train::StateOp declare(Value rows, int64_t length);

  StateTable &states;
  Value first, last;
  int64_t size;
  int64_t appended = 0;
};
} // namespace

/// Returns `count` rows of `rows` [1, T, width]: those of the last `count` positions up to `last`, the row of
/// position p at p mod `count`. If there are fewer positions, the other rows are arbitrary.
static Value lastRows(OpBuilder &builder, Value rows, int64_t count, Value last) {
  nn::TensorBuilder b(builder, rows.getLoc());
  const SmallVector<int64_t> shape(nn::shapeOf(rows));
  auto type = RankedTensorType::get({count}, builder.getI32Type());
  Value slots = b.create<nn::IotaOp>(0, type);
  // Row s holds the largest position up to `last` that is s plus a multiple of `count`.
  Value later = b.create<nn::MaxOp>(b.sub(b.broadcastTo(last, type), slots), b.zero(type));
  Value positions = b.add(slots, b.mul(b.div(later, b.constant(double(count), type)), double(count)));
  Value table = b.reshape(rows, {shape[1], shape[2]});
  return b.reshape(b.create<nn::GatherOp>(table, positions), {1, count, shape[2]});
}

/// Returns the cache with its row at `position` replaced by `row` [1, 1, width].
static Value replaceRow(OpBuilder &builder, Value cache, Value row, Value position) {
  nn::TensorBuilder b(builder, row.getLoc());
  auto places = RankedTensorType::get(nn::shapeOf(cache), builder.getI32Type());
  Value isHere =
      b.compare(nn::Predicate::eq, b.create<nn::IotaOp>(1, places), b.broadcastTo(position, places));
  return b.select(isHere, b.broadcastTo(row, nn::shapeOf(cache)), cache);
}

/// Returns the next cache, which has `length` rows like `rows`. The first entry declares it.
train::StateOp KeyValueCache::declare(Value rows, int64_t length) {
  const std::string name = "cache." + std::to_string(appended++);
  if (train::StateOp state = states.lookup(name))
    return state;
  const ArrayRef<int64_t> shape = nn::shapeOf(rows);
  return states.declare(rows.getLoc(), name, train::StateRole::cache,
                        nn::typeLike(rows, {shape[0], length, shape[2]}));
}

CachedRows KeyValueCache::append(OpBuilder &builder, Value rows, std::optional<int64_t> window) {
  const int64_t length = std::min(window.value_or(size), size);
  train::StateOp state = declare(rows, length);
  if (nn::shapeOf(rows)[1] != size)
    return appendOne(builder, rows, state);
  setState(builder, rows.getLoc(), state, length == size ? rows : lastRows(builder, rows, length, last));
  return {rows, first};
}

/// Writes one row. If the cache is full, the row replaces that of the oldest position.
CachedRows KeyValueCache::appendOne(OpBuilder &builder, Value row, train::StateOp state) {
  const Location loc = row.getLoc();
  nn::TensorBuilder b(builder, loc);
  Value cache = getState(builder, loc, state), slot = first, limit = first;
  if (const int64_t length = nn::shapeOf(cache)[1]; length != size) {
    Value turns = b.div(first, b.constantLike(first, double(length)));
    slot = b.sub(first, b.mul(turns, double(length)));
    limit = b.create<nn::MinOp>(first, b.constantLike(first, double(length - 1)));
  }
  cache = replaceRow(builder, cache, row, slot);
  setState(builder, loc, state, cache);
  return {cache, limit};
}

// --- Prefill and decode ---

/// Reports an error if the logits depend on a column other than tokens, because the values of such a column
/// are unknown for future positions.
static LogicalResult rejectOtherColumns(train::EntryOp entry) {
  for (auto input : entry.getBody().getOps<train::InputOp>())
    if (input.getColumn() != "tokens")
      return emitError(input.getLoc()) << "the logits depend on column '" << input.getColumn()
                                       << "', and only tokens are known while text is generated";
  return success();
}

/// Replaces ops that run along the sequence by their forms for generation. Ops along a sequence of length 1
/// are kept.
static LogicalResult makeIncremental(train::EntryOp entry, CacheScope &caches, ArrayRef<bool> alongSequence) {
  for (auto [op, isAlong] :
       llvm::zip(llvm::to_vector(entry.getBody().getOps<IncrementalOpInterface>()), alongSequence)) {
    if (!isAlong)
      continue;
    OpBuilder builder(op);
    SmallVector<Value> results = op.buildIncremental(builder, caches);
    if (results.empty())
      return failure();
    op->replaceAllUsesWith(results);
    op->erase();
  }
  return success();
}

/// Returns the position of the entry's last token.
static Value readPosition(Instantiation &shared, OpBuilder &builder) {
  train::StateOp state = shared.states.scalar(HostScalar::position);
  return getState(builder, shared.binding.model.getLoc(), state);
}

/// Builds the forward of `length` tokens (1, or the length of `dims`) up to the logits [1, 1, vocabulary] at
/// `position`.
static FailureOr<Value> buildLogits(Instantiation &shared, OpBuilder &builder, int64_t length,
                                    const PositionDims &dims, Value position) {
  nn::ModelOp model = shared.binding.model;
  auto inputs = createInputs(builder, model, BatchExtent::micro, /*batch=*/1, length);
  Operation *last = findLastMixingOp(model);
  EntryScope scope(builder, shared.states, shared.parameters, shared.binding.seqLen, /*training=*/false);
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

/// Returns the state of type `type` to which prefill and decode write their logits; declares it at the first
/// call.
static train::StateOp outputState(Instantiation &shared, Location loc, RankedTensorType type) {
  for (auto state : shared.binding.module.getOps<train::StateOp>())
    if (state.getRole() == train::StateRole::output)
      return state;
  return shared.states.declare(loc, "logits", train::StateRole::output, type);
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
  setState(builder, loc, outputState(shared, loc, type),
           nn::TensorBuilder(builder, loc).reshape(*logits, type.getShape()));
  eraseDeadOps(entry);
  // A prompt begins at position 0; a further token has its own position.
  builder.setInsertionPointToStart(&entry.getBody().front());
  Value last = readPosition(shared, builder);
  Value first = length == 1 ? last : nn::TensorBuilder(builder, loc).constantLike(last, 0);
  KeyValueCache caches(shared.states, first, last, shared.binding.seqLen);
  if (failed(makeIncremental(entry, caches, flow.alongSequence)))
    return failure();
  eraseDeadOps(entry); // including those of segments, because a generated text is one segment
  return rejectOtherColumns(entry);
}

/// Builds prefill and decode of a model with tokens and logits; `flow` describes its positions.
static LogicalResult buildGenerationEntries(Instantiation &shared, const PositionFlow &flow) {
  return failure(failed(buildEntry(shared, EntryKind::prefill, shared.binding.seqLen, flow)) ||
                 failed(buildEntry(shared, EntryKind::decode, 1, flow)));
}

// --- Whether the model can generate ---

/// Returns the column of tokens if the logits depend on it, or null.
static train::InputOp findTokens(Value logits) {
  for (Operation *op : opsLeadingTo(logits))
    if (auto input = dyn_cast<train::InputOp>(op); input && input.getColumn() == "tokens")
      return input;
  return nullptr;
}

/// Whether the model maps tokens [batch, t] to logits [batch, t, vocabulary], as continuing a text needs.
static bool isLanguageModel(Value logits, train::InputOp tokens) {
  return nn::tensorType(logits).getRank() == 3 &&
         nn::shapeOf(tokens.getResult()) == nn::shapeOf(logits).drop_back() &&
         nn::tensorType(tokens.getResult()).getElementType().isInteger();
}

namespace {
/// First error of an attempt to build the entries.
struct FirstError {
  Location loc;
  std::string text;
};
} // namespace

/// Reports an error unless the sequence length is open, because prompts have any length.
static LogicalResult checkOpenLength(nn::ModelOp model) {
  for (auto [column, type] : llvm::zip(model.getColumns().getAsValueRange<StringAttr>(),
                                       model.getArgumentTypes().getAsValueRange<TypeAttr>()))
    if (auto tensor = cast<RankedTensorType>(type); column == "tokens" && !tensor.isDynamicDim(1))
      return model.emitError("column 'tokens' is ")
             << tensor << "; for other lengths than " << tensor.getDimSize(1)
             << " its second dimension must be `?`";
  return success();
}

/// Reports an error if the logits depend on a column of non-integers, because the values of such a column are
/// unknown for future tokens.
static LogicalResult rejectNumbers(Value logits) {
  for (Operation *op : opsLeadingTo(logits))
    if (auto input = dyn_cast<train::InputOp>(op))
      if (Type type = nn::tensorType(input.getResult()).getElementType(); !type.isInteger())
        return emitError(input.getLoc()) << "the logits depend on column '" << input.getColumn() << "' of "
                                         << type << ", and only tokens are known while text is generated";
  return success();
}

/// Builds the entries. On failure, restores the module and returns the reason.
static std::optional<FirstError> tryEntries(Instantiation &shared, Value logits) {
  std::optional<FirstError> firstError;
  ScopedDiagnosticHandler keepFirst(shared.binding.module.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    if (!firstError)
      firstError = {diagnostic.getLocation(), diagnostic.str()};
    return success();
  });
  StateTable before = shared.states;
  if (failed(checkOpenLength(shared.binding.model)) || failed(rejectNumbers(logits)))
    return firstError;
  FailureOr<PositionFlow> flow = checkPositionFlow(shared);
  if (failed(flow) || failed(checkSampleFlow(shared)) || failed(buildGenerationEntries(shared, *flow)))
    shared.states.revertTo(before);
  return firstError;
}

/// Records the reason, which `trainrun --generate` reports.
static void setNoGeneration(Instantiation &shared, const FirstError &firstError) {
  const std::string place = placeText(firstError.loc);
  shared.binding.program.setNoGeneration((place.empty() ? "" : place + ": ") + firstError.text);
}

void trainc::buildGeneration(Instantiation &shared, const Forward &micro) {
  Value logits = micro.outputs.lookup("logits");
  train::InputOp tokens = logits ? findTokens(logits) : nullptr;
  if (!tokens)
    return;
  if (!isLanguageModel(logits, tokens)) { // such as a classifier; no remark, but trainrun can report it
    std::string text;
    llvm::raw_string_ostream(text)
        << "the output \"logits\" is " << logits.getType() << ", and the tokens are "
        << tokens.getResult().getType()
        << "; text needs integers [batch, length] and logits [batch, length, vocabulary]";
    return setNoGeneration(shared, {logits.getLoc(), text});
  }
  std::optional<FirstError> firstError = tryEntries(shared, logits);
  if (!firstError)
    return;
  emitRemark(firstError->loc) << "this plan cannot generate text (it gets no prefill and decode): "
                              << firstError->text;
  setNoGeneration(shared, *firstError);
}
