#include "lib/Instantiate/Binding.h"

#include "dialects/Train/Adapters.h"
#include "dialects/Train/Parameters.h"
#include "dialects/Train/Precision.h"
#include "dialects/Train/ProgramSettings.h"
#include "dialects/Train/Sharding.h"
#include "lib/Analysis/NoTraining.h"
#include "lib/Instantiate/BlockChecks.h"
#include "lib/Instantiate/Entries.h"
#include "lib/Instantiate/IdleSettings.h"
#include "lib/Instantiate/OffloadChecks.h"
#include "lib/Instantiate/PrecisionChecks.h"

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

/// Returns line 1 of the module's file, as the location of missing declarations; MLIR gives a module no line.
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

/// Returns a mandatory size; reports an error if it was not given.
static FailureOr<int64_t> require(train::ProgramOp program, const char *what, const char *option,
                                  const char *inProgram, std::optional<int64_t> value) {
  if (value)
    return *value;
  return program.emitError() << "the " << what << " is missing: give " << option << ", or write `"
                             << inProgram << "` in train.program";
}

/// Returns the sequence length; 0 for models without one.
static FailureOr<int64_t> sequenceLength(Binding &binding) {
  auto hasLength = [](RankedTensorType type) { return type.getNumDynamicDims() > 1; };
  if (llvm::any_of(binding.model.getArgumentTypes().getAsValueRange<TypeAttr>(),
                   [&](Type type) { return hasLength(cast<RankedTensorType>(type)); }))
    return require(binding.program, "sequence length", "--seq-len", "batch B x T",
                   train::kSeqLen.given(binding.program));
  if (!train::kSeqLen.isSet(binding.program))
    return 0;
  InFlightDiagnostic error = binding.program.emitError()
                             << "a sequence length of " << *train::kSeqLen.given(binding.program)
                             << " is given, but no column of the model has a second `?` dimension";
  error.attachNote(binding.model.getLoc()) << "the model is here";
  return error;
}

/// The program shares a namespace with its states and entries.
static LogicalResult checkName(train::ProgramOp program) {
  if (train::isReservedName(program.getSymName()))
    return program.emitError() << "a program cannot be named @" << program.getSymName()
                               << ", which is a reserved name; rename it";
  return success();
}

/// Sets defaults of settings that depend on other settings.
static void completeProgram(Binding &binding) {
  train::ProgramOp program = binding.program;
  if (!train::kEvalBatch.isSet(program))
    train::setDerived(program, train::kEvalBatch, Twine(binding.microBatch), "micro_batch");
  if (!train::kEvalPrecision.isSet(program))
    train::setDerived(program, train::kEvalPrecision,
                      StringRef(train::kPrecision.wordFor(train::kPrecision.of(program))), "precision");
  if (binding.ranks == 1 && train::kZeroStage.of(program) > 0) // all stages are the same program on one rank
    train::setDerived(program, train::kZeroStage, "0", "one rank is not sharded");
  if (binding.ranks > 1 && train::kZeroStage.of(program) == 0 && train::kHybridShard.isSet(program))
    train::setDerived(program, train::kHybridShard, Twine(binding.ranks), "all ranks");
}

/// The micro-batches of a rank are a subtree of the tree over all micro-batches of a step. If ranks rounded
/// their partial sums, other subtrees would give other bits.
static LogicalResult checkReproducible(Binding &binding) {
  if (!train::shardingOf(binding.program).reproducibleOverRanks)
    return success();
  if (!train::precisionOf(binding.program).reduce.isF32())
    return binding.program.emitError()
           << "reproducible (--reproducible) ranks promises the same bits on any number of ranks, but each "
              "rank rounds what it sums with reduce_type (--reduce-type) "
           << StringRef(*train::kReduceType.textIn(binding.program))
           << ": expected reduce_type f32; leave one of the two out";
  if (llvm::isPowerOf2_64(binding.accumulate))
    return success();
  return binding.program.emitError()
         << "reproducible (--reproducible) ranks sums micro-batches over a binary tree, of which each rank "
            "takes an equal subtree: --accumulate must be a power of two, found "
         << binding.accumulate << "; choose another, and --micro-batch or --ranks for as many samples a step";
}

FailureOr<Binding> trainc::bindProgram(ModuleOp module) {
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
  auto micro =
      require(*program, "batch size", "--micro-batch", "batch B", train::kMicroBatch.given(*program));
  if (failed(micro))
    return failure();
  auto length = sequenceLength(binding);
  if (failed(length))
    return failure();
  binding.microBatch = *micro;
  binding.seqLen = *length;
  binding.ranks = train::kRanks.of(*program);
  binding.accumulate = train::kAccumulate.of(*program);
  binding.texts = train::kGenerateBatch.of(*program);
  warnOfIdleSettings(binding.program);
  completeProgram(binding);
  binding.evalBatch = *train::kEvalBatch.given(*program);
  if (failed(checkPrecision(binding.program)) || failed(checkReproducible(binding)) ||
      failed(checkWrap(binding)) || failed(checkCheckpoints(binding)) ||
      failed(checkOffload(binding.program)))
    return failure();
  return binding;
}

// --- Parameter groups ---

LogicalResult trainc::applyGroups(const Binding &binding) {
  train::ProgramOp program = binding.program;
  ModuleOp module = binding.module;
  if (!program.getGroups())
    return success();
  // Groups may name parameters that pass `add-adapters` declares.
  if (!train::adaptersOf(program).any() && failed(train::checkGroups(program, module)))
    return failure();
  for (auto state : module.getOps<train::StateOp>())
    if (state.getRole() == train::StateRole::parameter) {
      int64_t rank = cast<RankedTensorType>(state.getType()).getRank();
      state.setFrozen(train::settingsOf(program, state.getSymName(), rank).frozen.value_or(false));
    }
  if (!train::adaptersOf(program).any())
    noteIfAllFrozen(program, module);
  return success();
}
