#include "lib/Instantiate/Binding.h"

#include "dialects/NN/Syntax.h"
#include "dialects/Train/Limits.h"
#include "dialects/Train/Names.h"
#include "dialects/Train/Sharding.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

RankedTensorType Binding::bind(RankedTensorType column, int64_t batch, int64_t length) {
  SmallVector<int64_t> shape(column.getShape());
  bool isBatch = true;
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size))
      size = std::exchange(isBatch, false) ? batch : length;
  return RankedTensorType::get(shape, column.getElementType());
}

/// The place of what a file lacks: MLIR knows of a module only which file it is.
static Location beginningOf(ModuleOp module) {
  auto file = dyn_cast<FileLineColLoc>(module.getLoc());
  return file && file.getLine() == 0 ? FileLineColLoc::get(file.getFilename(), 1, 1) : module.getLoc();
}

static FailureOr<train::ProgramOp> findProgram(ModuleOp module) {
  auto programs = llvm::to_vector(module.getOps<train::ProgramOp>());
  if (programs.empty())
    return emitError(beginningOf(module))
           << "no train.program in this file; expected e.g. `train.program @main { "
              "model @mlp  optimizer adamw(lr 1e-3)  batch 8 }`";
  if (programs.size() == 1)
    return programs.front();
  InFlightDiagnostic error = programs[1].emitError("a second train.program; expected one in a file");
  error.attachNote(programs[0].getLoc()) << "the first is here";
  return error;
}

static FailureOr<nn::ModelOp> findModel(ModuleOp module, train::ProgramOp program) {
  if (auto model = module.lookupSymbol<nn::ModelOp>(program.getModelAttr()))
    return model;
  InFlightDiagnostic error = program.emitError("no nn.model named ") << program.getModelAttr();
  for (auto model : module.getOps<nn::ModelOp>())
    error.attachNote(model.getLoc()) << "there is nn.model @" << model.getSymName();
  return error;
}

namespace {
/// A size, with the words for its errors.
struct Size {
  const char *option, *inProgram;
  int64_t most;
  std::optional<int64_t> fromOption;
  std::optional<uint64_t> fromProgram;

  std::optional<int64_t> value() const {
    return fromOption ? fromOption : fromProgram ? std::optional(int64_t(*fromProgram)) : std::nullopt;
  }
};
} // namespace

/// The size's value, at least 1; `fallback` if nobody gave one.
static FailureOr<int64_t> require(train::ProgramOp program, const Size &size,
                                  std::optional<int64_t> fallback) {
  std::optional<int64_t> value = size.value() ? size.value() : fallback;
  if (!value)
    return program.emitError() << "the size is missing: give " << size.option << ", or write `"
                               << size.inProgram << "` in train.program";
  if (*value < 1 || *value > size.most)
    return program.emitError() << size.option << " must lie between 1 and " << size.most << ", found "
                               << *value;
  return *value;
}

/// The sequence length, 0 for models without one.
static FailureOr<int64_t> sequenceLength(Binding &binding, const Size &size) {
  auto hasLength = [](RankedTensorType type) { return type.getNumDynamicDims() > 1; };
  if (llvm::any_of(binding.model.getArgumentTypes().getAsValueRange<TypeAttr>(),
                   [&](Type type) { return hasLength(cast<RankedTensorType>(type)); }))
    return require(binding.program, size, std::nullopt);
  if (!size.value())
    return 0;
  InFlightDiagnostic error = binding.program.emitError()
                             << "a sequence length of " << *size.value()
                             << " is given, but no column of the model has a second `?` dimension";
  error.attachNote(binding.model.getLoc()) << "the model is here";
  return error;
}

static void writeBack(Binding &binding) {
  OpBuilder builder(binding.program);
  auto attribute = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
  binding.program.setMicroBatchAttr(attribute(binding.microBatch));
  if (binding.seqLen > 0)
    binding.program.setSeqLenAttr(attribute(binding.seqLen));
  binding.program.setRanksAttr(attribute(binding.ranks));
  binding.program.setAccumulateAttr(attribute(binding.accumulate));
  binding.program.setEvalBatchAttr(attribute(binding.evalBatch));
}

/// A program shares a namespace with the states and entries that it becomes.
static LogicalResult checkName(train::ProgramOp program) {
  if (train::isReservedName(program.getSymName()))
    return program.emitError() << "a program cannot be named @" << program.getSymName()
                               << ", which names a part of the step; rename it";
  return success();
}

/// A rank alone has all parts, so that all stages are the same program.
static LogicalResult decideZeroStage(Binding &binding, const InstantiateOptions &options) {
  const int64_t stage = options.zeroStage.value_or(int64_t(binding.program.getZeroStage()));
  if (stage < 0 || stage > train::kMaxZeroStage)
    return binding.program.emitError()
           << "--zero-stage must lie between 0 and " << train::kMaxZeroStage << ", found " << stage;
  binding.program.setZeroStage(binding.ranks == 1 ? 0 : stage);
  return success();
}

/// A rank's micro-batches are a subtree of the tree over all of a step's.
static LogicalResult checkReproducible(Binding &binding) {
  if (!train::shardingOf(binding.program).reproducibleOverRanks || llvm::isPowerOf2_64(binding.accumulate))
    return success();
  return binding.program.emitError()
         << "reproducible = \"ranks\" sums micro-batches over a binary tree, of which each rank takes equal "
            "parts: --accumulate must be a power of two, found "
         << binding.accumulate << "; choose another, and --micro-batch or --ranks for as many samples a step";
}

namespace {
/// A word of `sharding`, or its option, that does nothing below some stage.
struct StagedWord {
  const char *word, *option;
  int64_t fromStage;
  const char *idle; ///< what the stages below do not do
};
} // namespace

constexpr StagedWord kStagedWords[] = {
    {"hybrid_shard", "--hybrid-shard", 1, "divides no states"},
    {"gather_bucket", "--allgather-bucket-size", 1, "gathers nothing"},
    {"persist_below", "--param-persistence-threshold", 3, "divides no parameters"},
    {"reshard_after_forward", "--reshard-after-forward", 3, "divides no parameters"},
    {"max_reuse_distance", "--max-reuse-distance", 3, "divides no parameters"},
    {"prefetch", "--prefetch", 3, "divides no parameters"},
    {"max_live", "--max-live-parameters", 3, "divides no parameters"},
    {"gathers_in_flight", "--limit-all-gathers", 3, "divides no parameters"}};

/// Says which words of `sharding` do nothing in the program's stage. One rank may take the words of many.
static void warnOfIdleWords(train::ProgramOp program) {
  train::ShardingAttr given = program.getShardingAttr();
  if (!given || program.getRanks() == 1)
    return;
  const auto stage = int64_t(program.getZeroStage());
  for (const StagedWord &each : kStagedWords)
    if (stage < each.fromStage && given.getWords().get(each.word))
      program.emitWarning("sharding: ")
          << each.word << " (" << each.option << ") does nothing with zero_stage " << stage << ", which "
          << each.idle;
}

/// Blocks that units are named after exist, on however many ranks the program runs.
static LogicalResult checkWrap(Binding &binding) {
  const StringRef wrap = train::shardingOf(binding.program).wrap;
  if (int64_t least = 0; wrap == "blocks" || wrap == "model" || !wrap.getAsInteger(10, least))
    return success();
  SmallVector<StringRef> blocks;
  for (auto block : binding.module.getOps<nn::BlockOp>())
    blocks.push_back(block.getSymName());
  for (StringRef name : llvm::map_range(llvm::split(wrap, ','), [](StringRef n) { return n.trim(); }))
    if (!llvm::is_contained(blocks, name)) {
      InFlightDiagnostic error = binding.program.emitError("sharding: wrap (--wrap): there is no block @");
      error << name << "; expected blocks or model alone, a number of parameters, or names of blocks";
      if (StringRef nearest = nearestName(name, blocks); !nearest.empty())
        error << "; did you mean '" << nearest << "'?";
      return error;
    }
  return success();
}

FailureOr<Binding> trainc::bindProgram(ModuleOp module, const InstantiateOptions &options) {
  Binding binding;
  binding.module = module;
  FailureOr<train::ProgramOp> program = findProgram(module);
  if (failed(program) || failed(checkName(*program)))
    return failure();
  FailureOr<nn::ModelOp> model = findModel(module, *program);
  if (failed(model))
    return failure();
  binding.program = *program;
  binding.model = *model;
  auto micro = require(
      *program, {"--micro-batch", "batch B", train::kMaxBatch, options.microBatch, program->getMicroBatch()},
      {});
  if (failed(micro))
    return failure();
  auto length = sequenceLength(
      binding, {"--seq-len", "batch B x T", train::kMaxLength, options.seqLen, program->getSeqLen()});
  auto ranks =
      require(*program, {"--ranks", "ranks N", train::kMaxRanks, options.ranks, program->getRanks()}, {});
  auto accumulate = require(
      *program,
      {"--accumulate", "accumulate A", train::kMaxAccumulate, options.accumulate, program->getAccumulate()},
      {});
  auto eval = require(
      *program,
      {"--eval-batch", "eval_batch B", train::kMaxBatch, options.evalBatch, program->getEvalBatch()}, *micro);
  if (failed(length) || failed(ranks) || failed(accumulate) || failed(eval))
    return failure();
  binding.microBatch = *micro;
  binding.seqLen = *length;
  binding.ranks = *ranks;
  if (failed(decideZeroStage(binding, options)))
    return failure();
  binding.accumulate = *accumulate;
  binding.evalBatch = *eval;
  if (failed(checkReproducible(binding)) || failed(checkWrap(binding)))
    return failure();
  writeBack(binding);
  warnOfIdleWords(binding.program);
  return binding;
}
