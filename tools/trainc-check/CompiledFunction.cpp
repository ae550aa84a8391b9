#include "CompiledFunction.h"

#include "Buffer.h"
#include "lib/Codegen/Cpu/CpuTarget.h"

#include "base/cpu_features.h"
#include "dialects/Interfaces/Interfaces.h"
#include "lib/Fusion/Passes.h"
#include "lib/Reference/Registry.h"
#include "lib/Step/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::check;
using reference::Frame;
using reference::Tensor;
using reference::Tensors;

/// Whether generated code executes the op.
static bool runsKernels(Operation &op) {
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  return executable && isGenerated(executable.getKernelClass());
}

static LogicalResult fuse(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(createDecomposePass());
  passes.addPass(createFusePass());
  return passes.run(module);
}

FailureOr<CompiledFunction> CompiledFunction::compile(func::FuncOp function) {
  CompiledFunction compiled;
  compiled.module_ = ModuleOp::create(function.getLoc());
  func::FuncOp copy = function.clone();
  compiled.module_->push_back(copy);
  if (failed(fuse(*compiled.module_)))
    return failure();
  const std::unique_ptr<codegen::Target> target = codegen::createCpuTarget();
  OwningOpRef<ModuleOp> kernels = target->createModule(*function.getContext());
  codegen::KernelModule functions(*kernels);
  for (Operation &op : copy.getBody().front()) {
    if (!runsKernels(op))
      continue;
    auto summary = target->summarise(&op);
    if (failed(summary))
      return failure();
    auto symbols = target->generate(&op, functions);
    if (failed(symbols))
      return failure();
    compiled.kernels_[&op] = {std::move(*summary), std::move(*symbols)};
  }
  if (compiled.kernels_.empty())
    return compiled;
  auto objects = target->compile(*kernels);
  if (failed(objects))
    return failure();
  for (const codegen::Object &object : *objects) {
    if (!missingFeatures(object.level, {object.features.begin(), object.features.end()}).empty())
      continue;
    Result<KernelImage> image = KernelImage::load(std::as_bytes(std::span(object.image)));
    if (!image.ok())
      return function.emitError("cannot load the kernels for ")
             << object.level << ": " << image.status().message();
    compiled.code_[object.level] = std::move(*image);
  }
  return compiled;
}

std::vector<std::string> CompiledFunction::levels() const {
  std::vector<std::string> names;
  for (const auto &[name, code] : code_)
    names.push_back(name);
  return names;
}

size_t CompiledFunction::launches() const {
  size_t count = 0;
  for (const auto &[op, kernels] : kernels_)
    count += kernels.symbols.size();
  return count;
}

/// Runs the launches of one op on copies of its operands, with tiles in descending order: results must not
/// depend on the order.
static Tensors runKernels(Operation &op, const CompiledKernels &kernels, const KernelImage &code,
                          Frame &frame) {
  using Source = codegen::KernelParam::Source;
  std::vector<Buffer> operands, results, scratch;
  for (Value operand : op.getOperands())
    operands.emplace_back(frame[operand]);
  for (Value result : op.getResults())
    results.emplace_back(Tensor(result));
  for (int64_t bytes : kernels.summary.scratchBytes)
    scratch.emplace_back(bytes);
  auto resultBuffer = [&](unsigned index) -> Buffer & {
    int operand = cast<ExecutableOpInterface>(op).getInPlaceOperand(index);
    return operand >= 0 ? operands[operand] : results[index];
  };
  for (auto [launch, symbol] : llvm::zip_equal(kernels.summary.launches, kernels.symbols)) {
    std::vector<void *> arguments;
    for (const codegen::KernelParam &param : launch.params)
      arguments.push_back(param.source == Source::Operand  ? operands[param.index].data()
                          : param.source == Source::Result ? resultBuffer(param.index).data()
                                                           : scratch[param.index].data());
    Buffer shared(launch.sharedBytes);
    for (int64_t tile = launch.grid; tile-- > 0;)
      code.find(symbol)(arguments.data(), tile, tile + 1, shared.data());
  }
  Tensors values;
  for (auto [index, result] : llvm::enumerate(op.getResults()))
    values.push_back(resultBuffer(index).read(cast<RankedTensorType>(result.getType())));
  return values;
}

FailureOr<Tensors> CompiledFunction::run(const Tensors &arguments, const std::string &level) const {
  Frame frame(nullptr);
  Block &block = (*module_.get().getOps<func::FuncOp>().begin()).getBody().front();
  for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
    frame.define(argument, tensor);
  for (Operation &op : block.without_terminator()) {
    auto generated = kernels_.find(&op);
    FailureOr<Tensors> values = generated != kernels_.end()
                                    ? runKernels(op, generated->second, code_.at(level), frame)
                                    : reference::runOp(op, frame);
    if (failed(values))
      return failure();
    for (auto [result, tensor] : llvm::zip(op.getResults(), *values))
      frame.define(result, rounded(tensor));
  }
  Tensors results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(frame[value]);
  return results;
}
