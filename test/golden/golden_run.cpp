#include "test/golden/golden_run.h"

#include "lib/Autodiff/Passes.h"
#include "lib/Fusion/Passes.h"
#include "lib/Instantiate/Instantiate.h"
#include "lib/Optimizer/Passes.h"
#include "lib/Pipelines/Pipeline.h"
#include "lib/Step/Passes.h"
#include "plan/settings/settings.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/ErrorHandling.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace trainc;
using namespace trainc::golden;
using reference::Tensor;

static std::string pathOf(const std::string &model, const std::string &file) {
  return std::string(TRAINC_GOLDEN_DIR) + "/" + model + "/" + file;
}

static SafetensorsView open(const std::string &model, const std::string &file) {
  Result<SafetensorsView> view = SafetensorsView::open(pathOf(model, file));
  if (!view.ok())
    llvm::report_fatal_error(llvm::Twine(view.status().message()));
  return std::move(*view);
}

static void check(LogicalResult result, llvm::StringRef what) {
  if (result.failed())
    llvm::report_fatal_error(llvm::Twine(what) + " failed");
}

/// One element of a file's tensor, as a number.
static double elementOf(const SafetensorsTensor &tensor, size_t index) {
  auto read = [&]<typename T>(T value) {
    std::memcpy(&value, tensor.bytes.data() + index * sizeof(T), sizeof(T));
    return double(value);
  };
  switch (tensor.dtype) {
  case SafetensorsDType::kF64:
    return read(double());
  case SafetensorsDType::kF32:
    return read(float());
  case SafetensorsDType::kI32:
    return read(int32_t());
  default:
    llvm::report_fatal_error(llvm::Twine("unexpected type: ") + describe(tensor));
  }
}

GoldenRun::GoldenRun(const std::string &model, Stage stage, const std::vector<train::GivenSetting> &settings)
    : inputs_(open(model, "inputs.safetensors")), data_(open(model, "data.safetensors")),
      golden_(open(model, "golden.safetensors")) {
  DialectRegistry registry;
  registerDialects(registry);
  context.appendDialectRegistry(registry);
  module = parseSourceFile<ModuleOp>(pathOf(model, model + ".mlir"), ParserConfig(&context));
  if (!module)
    llvm::report_fatal_error("the model does not parse");
  compile(stage, settings);
  memory.emplace(*module);
}

void GoldenRun::compile(Stage stage, const std::vector<train::GivenSetting> &settings) {
  if (stage == Stage::Scheduled) {
    CompileOptions options;
    options.settings = settings;
    options.compileTo = Phase::Scheduled;
    check(runPhases(*module, options), "the pipeline");
  } else {
    check(train::applyOptions(*module->getOps<train::ProgramOp>().begin(), settings), "the settings");
    check(instantiate(*module), "instantiate");
    PassManager passes(&context);
    passes.addPass(createAutodiff());
    if (stage != Stage::Gradients)
      passes.addPass(createOptimizer());
    if (stage == Stage::Chunked) {
      passes.addPass(createChunkLossPass({.minBytes = 0, .minRows = 4}));
      passes.addPass(createDecomposePass());
      passes.addPass(createAccumulateInPlace());
      passes.addPass(createFusePass());
    }
    check(passes.run(*module), "a pass");
  }
  auto program = *module->getOps<train::ProgramOp>().begin();
  microBatch_ = *train::kMicroBatch.given(program);
  accumulate_ = train::kAccumulate.of(program);
}

void GoldenRun::run(EntryKind entry) {
  check(reference::runEntry(*module, entry, *memory), stringifyEntryKind(entry));
}

bool GoldenRun::hasOp(llvm::StringRef name) {
  auto result = module->walk([&](Operation *op) {
    return op->getName().getStringRef() == name ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool GoldenRun::hasEntry(EntryKind entry) { return bool(findEntry<train::EntryOp>(*module, entry)); }

void GoldenRun::setScalar(llvm::StringRef name, double value) {
  if (auto state = memory->states.find(name); state != memory->states.end())
    state->second.setNumber(0, value);
}

void GoldenRun::loadWeights() {
  run(EntryKind::init);
  for (const SafetensorsTensor &weight : inputs_.tensors()) {
    auto state = memory->states.find(weight.name);
    if (state == memory->states.end() || size_t(state->second.elements()) != weight.elements())
      llvm::report_fatal_error(llvm::Twine("the model has no parameter like ") + describe(weight));
    for (size_t i = 0; i < weight.elements(); ++i)
      state->second.reals[i] = elementOf(weight, i);
  }
}

Tensor GoldenRun::rows(const SafetensorsTensor &column, int64_t first, int64_t count) {
  SmallVector<int64_t> shape(column.shape.begin(), column.shape.end());
  int64_t width = int64_t(column.elements()) / shape[0];
  shape[0] = count;
  bool isReal = column.dtype == SafetensorsDType::kF32;
  Type element = isReal ? Type(Float32Type::get(&context)) : Type(IntegerType::get(&context, 32));
  Tensor tensor(RankedTensorType::get(shape, element));
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.setNumber(i, elementOf(column, first * width + i));
  return tensor;
}

void GoldenRun::setColumns(BatchExtent extent, int64_t first, int64_t count) {
  auto &columns = extent == BatchExtent::micro ? memory->microColumns : memory->stepColumns;
  for (const SafetensorsTensor &column : data_.tensors())
    columns.insert_or_assign(column.name, rows(column, first, count));
}

void GoldenRun::step() {
  int64_t samples = microBatch_ * accumulate_, first = steps_ * samples;
  setScalar("lr", 1e-2);
  setScalar("step", double(steps_));
  setColumns(BatchExtent::step, first, samples);
  run(EntryKind::begin_step);
  for (int64_t micro = 0; micro < accumulate_; ++micro) {
    setScalar("micro", double(micro));
    setColumns(BatchExtent::micro, first + micro * microBatch_, microBatch_);
    run(EntryKind::micro_step);
  }
  if (hasEntry(EntryKind::update))
    run(EntryKind::update);
  ++steps_;
}

std::vector<double> GoldenRun::golden(const std::string &name) const {
  const SafetensorsTensor *tensor = golden_.find(name);
  if (!tensor)
    llvm::report_fatal_error(llvm::Twine("golden.safetensors has no tensor ") + name);
  std::vector<double> numbers(tensor->elements());
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = elementOf(*tensor, i);
  return numbers;
}

std::vector<std::string> GoldenRun::goldenNames(llvm::StringRef prefix) const {
  std::vector<std::string> names;
  for (const SafetensorsTensor &tensor : golden_.tensors())
    if (llvm::StringRef(tensor.name).starts_with(prefix))
      names.push_back(tensor.name.substr(prefix.size()));
  return names;
}

double golden::relativeError(ArrayRef<double> actual, ArrayRef<double> expected) {
  if (actual.size() != expected.size())
    llvm::report_fatal_error("tensors of unequal sizes");
  double apart = 0, scale = 0;
  for (auto [a, e] : llvm::zip(actual, expected)) {
    if (std::isnan(a))
      return a;
    apart = std::max(apart, std::abs(a - e));
    scale = std::max(scale, std::abs(e));
  }
  return apart / scale;
}

bool golden::hasKeyBias(llvm::StringRef parameter) { return parameter.ends_with("attn.c_attn.bias"); }

std::vector<double> golden::keyBias(ArrayRef<double> bias) {
  size_t third = bias.size() / 3;
  return bias.slice(third, third).vec();
}

std::vector<double> golden::withoutKeyBias(llvm::StringRef parameter, ArrayRef<double> tensor) {
  if (!hasKeyBias(parameter))
    return tensor.vec();
  size_t third = tensor.size() / 3;
  std::vector<double> rest = tensor.take_front(third).vec();
  llvm::append_range(rest, tensor.take_back(third));
  return rest;
}
