// Entries of generation, prefill and decode: whether a program gets them, the reason if it does not, and
// their construction.
#include "dialects/NN/Builders.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Instantiate/Entries.h"
#include "lib/Instantiate/PositionFlow.h"
#include "lib/Instantiate/PositionSelect.h"
#include "lib/Support/SourceName.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace mlir;
using namespace trainc;

// --- Keys and values of earlier positions ---

namespace {
/// Keys and values of earlier positions. The caches are states `cache.0`, `cache.1`, ... in the order in
/// which ops append to them, each with the rows of all texts. Prefill and decode share them. In a cache of n
/// rows a text, position p has the row p mod n, so that the cache of a window of n positions holds the last n
/// positions.
class KeyValueCache : public CacheScope {
public:
  KeyValueCache(StateTable &states, int64_t texts, int64_t capacity)
      : states(states), size(capacity), textCount(texts) {}

  int64_t texts() const { return textCount; }
  CachedRows append(OpBuilder &builder, Value rows, std::optional<int64_t> window) final;

protected:
  /// Writes `rows` to the cache `state`, and returns what queries read.
  virtual CachedRows write(OpBuilder &builder, Value rows, train::StateOp state) = 0;

  StateTable &states;
  int64_t size; ///< positions of a context

private:
  train::StateOp declare(Value rows, int64_t length);

  int64_t textCount;
  int64_t appended = 0;
};

/// Caches of prefill, which reads one text from its begin.
class PromptCache : public KeyValueCache {
public:
  /// `last` is the position of the text's last token. `slot` is the text's number, or null if there is a
  /// single text.
  PromptCache(OpBuilder &builder, StateTable &states, int64_t texts, int64_t capacity, Value last, Value slot)
      : KeyValueCache(states, texts, capacity), last(last), slot(slot) {
    first = nn::TensorBuilder(builder, last.getLoc()).constantLike(last, 0);
  }

  Value position() override { return first; }

private:
  CachedRows write(OpBuilder &builder, Value rows, train::StateOp state) override;

  Value first, last, slot;
};

/// Caches of decode, which reads one token of each text.
class TokenCache : public KeyValueCache {
public:
  /// `positions` are those of the tokens, [texts], or a scalar if there is a single text.
  TokenCache(StateTable &states, int64_t texts, int64_t capacity, Value positions)
      : KeyValueCache(states, texts, capacity), positions(positions) {}

  Value position() override { return positions; }

private:
  CachedRows write(OpBuilder &builder, Value rows, train::StateOp state) override;

  Value positions;
};
} // namespace

/// Returns numbers of rows in a table that holds `length` rows of each sequence. `rows` are the numbers
/// within each sequence; they are repeated to `shape`, which begins with the number of sequences. Returns
/// `rows` itself for a single sequence.
static Value rowsOfTable(nn::TensorBuilder &b, Value rows, ArrayRef<int64_t> shape, int64_t length) {
  if (shape.front() == 1)
    return rows;
  auto type = nn::typeLike(rows, shape);
  Value begins = b.mul(b.create<nn::IotaOp>(0, type), double(length));
  return b.add(b.broadcastTo(rows, type), begins);
}

/// Returns `count` rows of each sequence of `rows` [S, T, width]: those of the last `count` positions up to
/// `last`, the row of position p at p mod `count`. If there are fewer positions, the other rows are
/// arbitrary.
static Value lastRows(OpBuilder &builder, Value rows, int64_t count, Value last) {
  nn::TensorBuilder b(builder, rows.getLoc());
  const SmallVector<int64_t> shape(nn::shapeOf(rows));
  auto type = RankedTensorType::get({count}, builder.getI32Type());
  Value slots = b.create<nn::IotaOp>(0, type);
  // Row s holds the largest position up to `last` that is s plus a multiple of `count`.
  Value later = b.create<nn::MaxOp>(b.sub(b.broadcastTo(last, type), slots), b.zero(type));
  Value positions = b.add(slots, b.mul(b.div(later, b.constant(double(count), type)), double(count)));
  Value table = b.reshape(rows, {shape[0] * shape[1], shape[2]});
  positions = rowsOfTable(b, positions, {shape[0], count}, shape[1]);
  return b.reshape(b.create<nn::GatherOp>(table, positions), {shape[0], count, shape[2]});
}

/// Returns `tensor`, taken as `count` rows, with its rows `ids` replaced by `rows`.
static Value replaceRows(OpBuilder &builder, Value tensor, int64_t count, Value ids, Value rows) {
  nn::TensorBuilder b(builder, rows.getLoc());
  const int64_t width = nn::tensorType(tensor).getNumElements() / count;
  Value table = b.reshape(tensor, {count, width});
  Value updates = b.reshape(rows, {nn::shapeOf(ids)[0], width});
  return b.reshape(b.create<nn::ScatterOp>(table, ids, updates), nn::shapeOf(tensor));
}

/// Returns the next cache, which has `length` rows like `rows`. The first entry declares it.
train::StateOp KeyValueCache::declare(Value rows, int64_t length) {
  const std::string name = "cache." + std::to_string(appended++);
  if (train::StateOp state = states.lookup(name))
    return state;
  const ArrayRef<int64_t> shape = nn::shapeOf(rows);
  return states.declare(rows.getLoc(), name, train::StateRole::cache,
                        nn::typeLike(rows, {texts() * shape[0], length, shape[2]}));
}

CachedRows KeyValueCache::append(OpBuilder &builder, Value rows, std::optional<int64_t> window) {
  const int64_t length = std::min(window.value_or(size), size);
  return write(builder, rows, declare(rows, length));
}

/// Replaces all rows of the text. Queries read the rows of the whole prompt, of which a window's cache holds
/// the last.
CachedRows PromptCache::write(OpBuilder &builder, Value rows, train::StateOp state) {
  const Location loc = rows.getLoc();
  nn::TensorBuilder b(builder, loc);
  const int64_t length = cast<RankedTensorType>(state.getType()).getDimSize(1);
  Value kept = length == size ? rows : lastRows(builder, rows, length, last);
  if (slot)
    kept = replaceRows(builder, getState(builder, loc, state), texts(), b.reshape(slot, {1}), kept);
  setState(builder, loc, state, kept);
  return {rows, first};
}

/// Writes one row of each text. If the text's cache is full, the row replaces that of the oldest position.
CachedRows TokenCache::write(OpBuilder &builder, Value rows, train::StateOp state) {
  const Location loc = rows.getLoc();
  nn::TensorBuilder b(builder, loc);
  Value cache = getState(builder, loc, state), row = positions, limit = positions;
  const int64_t sequences = nn::shapeOf(cache)[0], length = nn::shapeOf(cache)[1];
  if (length != size) {
    Value turns = b.div(positions, b.constantLike(positions, double(length)));
    row = b.sub(positions, b.mul(turns, double(length)));
    limit = b.create<nn::MinOp>(positions, b.constantLike(positions, double(length - 1)));
  }
  row = rowsOfTable(b, b.reshape(row, {texts()}), {sequences}, length);
  cache = replaceRows(builder, cache, sequences * length, row, rows);
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

/// Reports an error if a sample has several sequences, as of heads, because caches are of one sequence a
/// text.
static LogicalResult checkOneSequence(IncrementalOpInterface op) {
  const SequenceDims sequence = op.getSequenceDims();
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), sequence.operands)) {
    const int64_t sequences =
        ShapedType::getNumElements(nn::shapeOf(operand).take_front(size_t(std::max(dim, 0))));
    if (sequences != 1)
      return op->emitError("a sample has ")
             << sequences << " sequences here, and then generation continues one text at a time; leave "
             << train::bothNames(train::kGenerateBatch) << " out";
  }
  return success();
}

/// Replaces ops that run along the sequence by their forms for generation. Ops along a sequence of length 1
/// are kept.
static LogicalResult makeIncremental(train::EntryOp entry, KeyValueCache &caches,
                                     ArrayRef<bool> alongSequence) {
  for (auto [op, isAlong] :
       llvm::zip(llvm::to_vector(entry.getBody().getOps<IncrementalOpInterface>()), alongSequence)) {
    if (!isAlong)
      continue;
    if (caches.texts() > 1 && failed(checkOneSequence(op)))
      return failure();
    OpBuilder builder(op);
    SmallVector<Value> results = op.buildIncremental(builder, caches);
    if (results.empty())
      return failure();
    op->replaceAllUsesWith(results);
    op->erase();
  }
  return success();
}

/// Returns the position of each text's last token, [texts]; a scalar if there is a single text.
static Value readPositions(Instantiation &shared, OpBuilder &builder) {
  const int64_t texts = shared.binding.texts;
  train::StateOp state =
      shared.states.scalar(HostScalar::position, texts == 1 ? std::nullopt : std::optional<int64_t>(texts));
  return getState(builder, shared.binding.model.getLoc(), state);
}

/// Returns the number of the text that prefill reads; null if there is a single text.
static Value readSlot(Instantiation &shared, OpBuilder &builder) {
  if (shared.binding.texts == 1)
    return {};
  return getState(builder, shared.binding.model.getLoc(), shared.states.scalar(HostScalar::slot));
}

/// Returns the position of the last token of text `slot`; `slot` may be null.
static Value positionOf(OpBuilder &builder, Value positions, Value slot) {
  if (!slot)
    return positions;
  nn::TensorBuilder b(builder, positions.getLoc());
  Value rows = b.reshape(positions, {nn::shapeOf(positions)[0], 1});
  return b.reshape(b.create<nn::GatherOp>(rows, b.reshape(slot, {1})), {});
}

/// Builds the forward of `length` tokens up to their logits, [1, length, vocabulary]. If `position` is not
/// null, builds only the logits [1, 1, vocabulary] of that token; `dims` must be those of this length.
static FailureOr<Value> buildLogits(Instantiation &shared, OpBuilder &builder, int64_t length,
                                    const PositionDims &dims, Value position) {
  nn::ModelOp model = shared.binding.model;
  auto inputs = createInputs(builder, model, BatchExtent::micro, /*batch=*/1, length);
  Operation *last = findLastMixingOp(model);
  EntryScope scope(builder, shared.states, shared.parameters, shared.binding.seqLen, /*training=*/false);
  FailureOr<Forward> forward =
      buildForward(model, builder, scope, inputs, [&](Operation *op, IRMapping &values) {
        if (op == last && position && length > 1)
          selectAfter(last, values, builder, dims, length, position);
      });
  if (failed(forward))
    return failure();
  Value logits = forward->outputs.lookup("logits");
  return !position || nn::shapeOf(logits)[1] == 1 ? logits : selectPosition(builder, logits, position);
}

/// Returns the state of type `type` to which prefill and decode write their logits; declares it at the first
/// call.
static train::StateOp outputState(Instantiation &shared, Location loc, RankedTensorType type) {
  for (auto state : shared.binding.module.getOps<train::StateOp>())
    if (state.getRole() == train::StateRole::output)
      return state;
  return shared.states.declare(loc, "logits", train::StateRole::output, type);
}

/// Writes the logits of all texts, or those of text `slot` if it is not null.
static void setLogits(Instantiation &shared, OpBuilder &builder, Value logits, Value slot) {
  const Location loc = logits.getLoc();
  const int64_t texts = shared.binding.texts, vocabulary = nn::shapeOf(logits).back();
  const SmallVector<int64_t> shape =
      texts == 1 ? SmallVector<int64_t>{vocabulary} : SmallVector<int64_t>{texts, vocabulary};
  train::StateOp state = outputState(shared, loc, nn::typeLike(logits, shape));
  nn::TensorBuilder b(builder, loc);
  Value rows = b.reshape(logits, shape.size() == 1 || slot ? SmallVector<int64_t>{vocabulary} : shape);
  if (slot)
    rows = replaceRows(builder, getState(builder, loc, state), texts, b.reshape(slot, {1}), rows);
  setState(builder, loc, state, rows);
}

/// Replaces the column `positions`, which counts the tokens of each text in a row, by the positions of the
/// generated text. `position` is that of the first token, or [texts] if each token belongs to another text.
static void countPositions(train::EntryOp entry, Value position) {
  for (auto input : llvm::make_early_inc_range(entry.getBody().getOps<train::InputOp>())) {
    auto type = nn::tensorType(input.getResult());
    if (input.getColumn() != "positions" || type.getRank() != 2 || !type.getElementType().isInteger(32))
      continue;
    OpBuilder builder(input);
    nn::TensorBuilder b(builder, input.getLoc());
    Value counted = nn::tensorType(position).getRank() == 1
                        ? b.reshape(position, type.getShape())
                        : b.add(b.create<nn::IotaOp>(1, type), b.broadcastTo(position, type));
    input.getResult().replaceAllUsesWith(counted);
    input.erase();
  }
}

/// Replaces ops that run along the sequence, erases what is then dead, including ops of segments, because a
/// generated text is one segment, and verifies the inputs.
static LogicalResult finishEntry(train::EntryOp entry, KeyValueCache &caches, const PositionFlow &flow) {
  if (failed(makeIncremental(entry, caches, flow.alongSequence)))
    return failure();
  countPositions(entry, caches.position());
  eraseDeadOps(entry);
  return rejectOtherColumns(entry);
}

/// Builds the entry that reads the prompt of one text.
static LogicalResult buildPrefill(Instantiation &shared, const PositionFlow &flow) {
  const int64_t length = shared.binding.seqLen;
  train::EntryOp entry = shared.states.createEntry(EntryKind::prefill);
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  Value slot = readSlot(shared, builder);
  Value position = positionOf(builder, readPositions(shared, builder), slot);
  FailureOr<Value> logits = buildLogits(shared, builder, length, flow.dims, position);
  if (failed(logits))
    return failure();
  setLogits(shared, builder, *logits, slot);
  eraseDeadOps(entry);
  builder.setInsertionPointToStart(&entry.getBody().front());
  // The reads above may have been erased, and the caches' must precede their users.
  slot = readSlot(shared, builder);
  position = positionOf(builder, readPositions(shared, builder), slot);
  PromptCache caches(builder, shared.states, shared.binding.texts, length, position, slot);
  return finishEntry(entry, caches, flow);
}

/// Builds the entry that reads one more token of each text. The texts' tokens are a row of the model's
/// columns, [1, texts], because all ops but those of IncrementalOpInterface treat the tokens of a row
/// independently.
static LogicalResult buildDecode(Instantiation &shared, const PositionFlow &flow) {
  const int64_t texts = shared.binding.texts;
  train::EntryOp entry = shared.states.createEntry(EntryKind::decode);
  OpBuilder builder = OpBuilder::atBlockEnd(&entry.getBody().front());
  FailureOr<Value> logits = buildLogits(shared, builder, texts, flow.dims, /*position=*/{});
  if (failed(logits))
    return failure();
  setLogits(shared, builder, *logits, /*slot=*/{});
  eraseDeadOps(entry);
  builder.setInsertionPointToStart(&entry.getBody().front());
  TokenCache caches(shared.states, texts, shared.binding.seqLen, readPositions(shared, builder));
  return finishEntry(entry, caches, flow);
}

/// Builds prefill and decode of a model with tokens and logits; `flow` describes its positions.
static LogicalResult buildGenerationEntries(Instantiation &shared, const PositionFlow &flow) {
  return failure(failed(buildPrefill(shared, flow)) || failed(buildDecode(shared, flow)));
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

/// Reports an error if several texts are to be continued at once, each of them one token long, or longer
/// together than numbers of rows in i32.
static LogicalResult checkContext(Binding &binding) {
  constexpr int64_t kMaxRows = std::numeric_limits<int32_t>::max();
  auto error = [&] {
    return binding.program.emitError() << train::bothNames(train::kGenerateBatch) << " " << binding.texts;
  };
  if (binding.texts > 1 && binding.seqLen == 1)
    return error() << " needs a sequence length above 1";
  if (binding.texts > kMaxRows / binding.seqLen)
    return error() << " times a sequence length of " << binding.seqLen
                   << " is more than the rows that a cache can have, " << kMaxRows;
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
  if (failed(checkOpenLength(shared.binding.model)) || failed(checkContext(shared.binding)) ||
      failed(rejectNumbers(logits)))
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

/// Builds the entries if the model can continue token sequences; otherwise a remark gives the reason.
static void buildIfPossible(Instantiation &shared, const Forward &micro) {
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

void trainc::buildGeneration(Instantiation &shared, const Forward &micro) {
  buildIfPossible(shared, micro);
  if (shared.binding.texts > 1 && !findEntry<train::EntryOp>(shared.binding.module, EntryKind::decode))
    shared.binding.program.emitWarning()
        << train::bothNames(train::kGenerateBatch) << " does nothing, because this plan cannot generate text";
}
