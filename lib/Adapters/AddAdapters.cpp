// Pass `add-adapters`: low-rank adapters of linear layers.
#include "base/adapters.h"
#include "dialects/NN/Builders.h"
#include "dialects/Train/Parameters.h"
#include "lib/Adapters/AdapterConfig.h"
#include "lib/Adapters/Passes.h"
#include "lib/Analysis/InitialValue.h"
#include "lib/Analysis/NoTraining.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_ADDADAPTERS
#include "lib/Adapters/Passes.h.inc"

namespace {

using adapters::Linear;

/// Parameters of a layer's adapter.
struct Adapter {
  train::StateOp a; ///< [rank, in]
  train::StateOp b; ///< [out, rank]
};

/// Adds the adapters of one module.
class Adaptation {
public:
  Adaptation(ModuleOp module, train::ProgramOp program, train::AdapterSettings settings)
      : module(module), program(program), settings(std::move(settings)), builder(module.getContext()) {}

  LogicalResult run();

private:
  FailureOr<Adapter> declareAdapter(const Linear &linear);
  FailureOr<train::StateOp> declare(const Linear &linear, std::string_view end, ArrayRef<int64_t> shape,
                                    Operation *after);
  void initialise(train::StateOp parameter, const Initializer &init);
  void adapt(const Linear &linear, const Adapter &adapter);
  Value drop(nn::TensorBuilder &b, Value x, const std::string &site);
  Value read(Location loc, train::StateOp state);
  Value readScalar(Location loc, HostScalar scalar);
  FailureOr<SmallVector<std::string>> freezeOthers(ArrayRef<Linear> selected);

  ModuleOp module;
  train::ProgramOp program;
  train::AdapterSettings settings;
  OpBuilder builder;
};

} // namespace

// --- Parameters ---

FailureOr<train::StateOp> Adaptation::declare(const Linear &linear, std::string_view end,
                                              ArrayRef<int64_t> shape, Operation *after) {
  const std::string full = linear.layer + std::string(end);
  if (Operation *taken = module.lookupSymbol(full)) {
    InFlightDiagnostic error = program.emitError()
                               << "lora adds a parameter '" << full << "', but the model has one; rename it";
    error.attachNote(taken->getLoc()) << "it is here";
    return failure();
  }
  builder.setInsertionPointAfter(after);
  train::StateOp weight = linear.weight;
  const Type element = weight.getType().getElementType();
  auto state = train::StateOp::create(builder, weight.getLoc(), full, train::StateRole::parameter,
                                      RankedTensorType::get(shape, element));
  if (ArrayAttr blocks = weight.getBlocksAttr())
    state.setBlocksAttr(blocks);
  const std::optional<bool> frozen = train::settingsOf(program, full, int64_t(shape.size())).frozen;
  state.setFrozen(frozen.value_or(false));
  return state;
}

void Adaptation::initialise(train::StateOp parameter, const Initializer &init) {
  for (auto entry : module.getOps<train::EntryOp>())
    if (entry.getKind() == EntryKind::init) {
      builder.setInsertionPointToEnd(&entry.getBody().front());
      Value value = buildInitialValue(builder, parameter, init);
      train::SetOp::create(builder, parameter.getLoc(), parameter.getSymName(), value);
    }
}

FailureOr<Adapter> Adaptation::declareAdapter(const Linear &linear) {
  FailureOr<train::StateOp> a = declare(linear, kAdapterA, {settings.rank, linear.in}, linear.weight);
  if (failed(a))
    return failure();
  FailureOr<train::StateOp> b = declare(linear, kAdapterB, {linear.out, settings.rank}, *a);
  if (failed(b))
    return failure();
  // PEFT's kaiming_uniform_(a=sqrt(5)).
  const double bound = 1 / std::sqrt(double(linear.in));
  initialise(*a, {"uniform", -bound, bound});
  initialise(*b, {"zeros"});
  return Adapter{*a, *b};
}

// --- Products ---

Value Adaptation::read(Location loc, train::StateOp state) {
  return train::GetOp::create(builder, loc, state.getType(), state.getSymName());
}

Value Adaptation::readScalar(Location loc, HostScalar scalar) {
  return train::GetOp::create(builder, loc, typeOf(scalar, builder.getContext()),
                              stringifyHostScalar(scalar));
}

Value Adaptation::drop(nn::TensorBuilder &b, Value x, const std::string &site) {
  const Location loc = x.getLoc();
  return nn::buildDropout(b, x, settings.dropout,
                          {readScalar(loc, HostScalar::seed), readScalar(loc, HostScalar::step),
                           readScalar(loc, HostScalar::micro), randomStreamOf(site)});
}

void Adaptation::adapt(const Linear &linear, const Adapter &adapter) {
  const double scale = adapterScale(double(settings.alpha), double(settings.rank), settings.rootOfRank);
  int64_t uses = 0; // of a weight that the training step reads several times
  for (Operation *product : linear.products) {
    const Location loc = NameLoc::get(builder.getStringAttr(linear.layer + ".lora"), product->getLoc());
    builder.setInsertionPointAfter(product);
    nn::TensorBuilder b(builder, loc);
    Value x = product->getOperand(0), y = product->getResult(0);
    const bool isTraining = product->getParentOfType<train::EntryOp>().getKind() == EntryKind::micro_step;
    if (isTraining && settings.dropout > 0) {
      const std::string site = linear.layer + ".lora_dropout";
      x = drop(b, x, uses++ == 0 ? site : site + "." + std::to_string(uses));
    }
    Value low = b.mul(b.matmul(x, read(loc, adapter.a), {.transposeRhs = true}), scale);
    Value sum = b.add(y, b.matmul(low, read(loc, adapter.b), {.transposeRhs = true}));
    y.replaceAllUsesExcept(sum, sum.getDefiningOp());
  }
}

// --- The other parameters ---

/// Freezes the parameters without adapters. Returns the layers that `lora_modules_to_save` names.
FailureOr<SmallVector<std::string>> Adaptation::freezeOthers(ArrayRef<Linear> selected) {
  llvm::SetVector<StringRef> saved;
  llvm::SmallVector<bool> used(settings.saved.size());
  for (auto state : module.getOps<train::StateOp>()) {
    if (state.getRole() != train::StateRole::parameter)
      continue;
    const StringRef name = state.getSymName(), layer = name.rsplit('.').first;
    const std::optional<bool> frozen = train::settingsOf(program, name, state.getType().getRank()).frozen;
    bool isSaved = false;
    for (auto [index, pattern] : llvm::enumerate(settings.saved))
      if (train::matchesLayer(pattern, layer)) {
        used[index] = isSaved = true;
        saved.insert(layer);
      }
    state.setFrozen(frozen.value_or(!isSaved));
  }
  for (auto [pattern, isUsed] : llvm::zip(settings.saved, used))
    if (!isUsed)
      return program.emitError() << "lora_modules_to_save \"" << pattern << "\" matches no layer of model @"
                                 << program.getModel() << "; `*` stands for any text";
  for (const Linear &linear : selected)
    if (saved.contains(linear.layer))
      return program.emitError() << "layer '" << linear.layer
                                 << "' matches both lora and lora_modules_to_save; expected it in one of "
                                    "them, as its weight is either adapted or trained";
  return llvm::map_to_vector(saved, [](StringRef layer) { return layer.str(); });
}

LogicalResult Adaptation::run() {
  if (DictionaryAttr exports = program.getExportsAttr(); exports && exports.get(kAdapterConfigFile))
    return program.emitError("lora writes \"adapter_config.json\" itself; remove this export");
  FailureOr<SmallVector<Linear>> selected =
      adapters::selectLinears(program, adapters::findLinears(module), settings);
  if (failed(selected))
    return failure();
  for (const Linear &linear : *selected)
    if (linear.isInOut != selected->front().isInOut)
      return program.emitError() << "lora: the weights of '" << selected->front().layer << "' and '"
                                 << linear.layer
                                 << "' have different layouts, which no adapter_config.json can say; select "
                                    "one of them";
  FailureOr<SmallVector<std::string>> saved = freezeOthers(*selected);
  if (failed(saved))
    return failure();
  for (const Linear &linear : *selected) {
    FailureOr<Adapter> adapter = declareAdapter(linear);
    if (failed(adapter))
      return failure();
    adapt(linear, *adapter);
  }
  adapters::exportConfig(program, settings, *selected, *saved);
  if (failed(train::checkGroups(program, module)))
    return failure();
  noteIfAllFrozen(program, module);
  return success();
}

// --- The pass ---

namespace {
struct AddAdapters : impl::AddAdaptersBase<AddAdapters> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>())
      if (train::AdapterSettings settings = train::adaptersOf(program); settings.any())
        if (failed(Adaptation(getOperation(), program, std::move(settings)).run()))
          return signalPassFailure();
  }
};
} // namespace

} // namespace trainc
