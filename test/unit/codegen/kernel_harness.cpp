// Compiles one op, runs it, and compares it with the reference.
#include "test/unit/codegen/kernel_harness.h"

#include "base/cpu_features.h"
#include "dialects/Dist/Dist.h"
#include "dialects/NN/NN.h"
#include "lib/Codegen/Cpu/CpuTarget.h"
#include "lib/Fusion/Passes.h"
#include "lib/Reference/Interpreter.h"
#include "lib/Support/StoredElement.h"
#include "test/unit/codegen/matrix_unit_emulation.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace mlir;
using trainc::reference::Tensor;
using trainc::reference::Tensors;

namespace trainc::codegen::harness {

// --- ParsedOp ---

void ParsedOp::parse(const std::string &text) {
  context.loadDialect<dist::DistDialect, nn::NNDialect, func::FuncDialect>();
  module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "does not parse: " << text;
    return;
  }
  function = *module->getOps<func::FuncOp>().begin();
  PassManager passes(&context);
  passes.addPass(createFusePass());
  ASSERT_TRUE(succeeded(passes.run(*module))) << text;
  Operation *first = &function.front().front(), *end = function.front().getTerminator();
  ASSERT_EQ(first->getNextNode(), end) << "expected one kernel: " << text;
  end->setOperands(first->getResults()); // whose order is the fusion's
  operation = first;
}

ArrayRef<Type> ParsedOp::inputTypes() const {
  return const_cast<func::FuncOp &>(function).getArgumentTypes();
}

Tensors ParsedOp::reference(const Tensors &inputs) const {
  auto results = reference::runBlock(const_cast<func::FuncOp &>(function).front(), inputs);
  EXPECT_TRUE(succeeded(results));
  return succeeded(results) ? std::move(*results) : Tensors();
}

Tensors ParsedOp::randomInputs(int64_t integerLimit, unsigned seed) const {
  std::mt19937 random(seed);
  Tensors inputs;
  for (Type type : inputTypes()) {
    Tensor &tensor = inputs.emplace_back(cast<RankedTensorType>(type));
    for (double &real : tensor.reals)
      real = float(std::uniform_real_distribution<double>(-2, 2)(random));
    tensor.roundShortNumbers();
    bool isBool = tensor.type().getElementType().isInteger(1);
    for (int64_t &integer : tensor.integers)
      integer = std::uniform_int_distribution<int64_t>(0, isBool ? 1 : integerLimit - 1)(random);
  }
  return inputs;
}

// --- CompiledOp ---

Unit unitHere() {
  return missingFeatures("x86-64-v4", {"amx_tile", "amx_bf16"}).empty() ? Unit::Real : Unit::Emulated;
}

CompiledOp::CompiledOp(const std::string &text, Fp32Products products, Unit unit) {
  target = createCpuTarget(products);
  SCOPED_TRACE(text);
  parse(text);
  if (operation)
    compile(unit);
}

void CompiledOp::compile(Unit unit) {
  kernelModule = target->createModule(context);
  auto known = target->summarise(operation);
  ASSERT_TRUE(succeeded(known));
  summary = std::move(*known);
  KernelModule kernels(*kernelModule);
  auto made = target->generate(operation, kernels);
  ASSERT_TRUE(succeeded(made));
  symbols = std::move(*made);
  if (unit == Unit::Emulated)
    emulateMatrixUnit(*kernelModule);
  auto compiled = target->compile(*kernelModule);
  ASSERT_TRUE(succeeded(compiled));
  for (const Object &object : *compiled) {
    objects[object.level] = object.image;
    Result<KernelImage> image = KernelImage::load(std::as_bytes(std::span(object.image)));
    ASSERT_TRUE(image.ok()) << image.status().message();
    images[object.level] = std::move(*image);
  }
}

CompiledOp::Execution CompiledOp::prepare(const Tensors &inputs, const std::string &level,
                                          Pairs shared) const {
  std::vector<Buffer> operands;
  for (Value operand : operation->getOperands())
    operands.emplace_back(inputs[cast<BlockArgument>(operand).getArgNumber()]);
  return prepare(std::move(operands), level, shared);
}

CompiledOp::Execution CompiledOp::prepare(std::vector<Buffer> operands, const std::string &level,
                                          Pairs shared) const {
  Execution execution;
  execution.operands = std::move(operands);
  llvm::SmallDenseSet<unsigned> taken;
  for (auto [index, result] : llvm::enumerate(operation->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    execution.types.push_back(type);
    execution.results.emplace_back(type.getNumElements() * elementBytes(type.getElementType()));
    execution.resultPointers.push_back(execution.results.back().data());
    int inPlace = cast<ExecutableOpInterface>(operation).getInPlaceOperand(index);
    for (auto [operand, shares] : shared)
      if (shares == index && inPlace < 0 && taken.insert(operand).second)
        inPlace = operand;
    if (inPlace >= 0)
      execution.resultPointers[index] = execution.operands[inPlace].data();
  }
  for (int64_t bytes : summary.scratchBytes)
    execution.scratch.emplace_back(bytes);
  for (auto [launch, symbol] : llvm::zip_equal(summary.launches, symbols)) {
    std::vector<void *> args;
    for (const KernelParam &param : launch.params)
      args.push_back(param.source == KernelParam::Source::Operand  ? execution.operands[param.index].data()
                     : param.source == KernelParam::Source::Result ? execution.resultPointers[param.index]
                                                                   : execution.scratch[param.index].data());
    KernelFunction kernel = images.at(level).find(symbol);
    EXPECT_NE(kernel, nullptr) << "no symbol " << symbol;
    execution.shared.emplace_back(launch.sharedBytes);
    execution.launches.push_back({kernel, launch.grid, std::move(args), execution.shared.back().data()});
  }
  return execution;
}

void CompiledOp::Execution::run(Order order) const {
  for (const Bound &launch : launches) {
    if (order == Order::AtOnce) {
      launch.kernel(launch.args.data(), 0, launch.grid + 7, launch.shared); // the kernel clamps to its grid
      continue;
    }
    const int64_t range = order == Order::InThrees ? 3 : 1;
    for (int64_t tile = (launch.grid - 1) / range * range; tile >= 0; tile -= range)
      launch.kernel(launch.args.data(), tile, tile + range, launch.shared);
  }
  EXPECT_FALSE(isMatrixUnitInUse()) << "a kernel has not released it";
}

Tensor CompiledOp::Execution::result(unsigned index) const {
  Buffer whole(types[index].getNumElements() * elementBytes(types[index].getElementType()));
  memcpy(whole.data(), resultPointers[index], whole.size());
  return whole.read(types[index]);
}

Tensors CompiledOp::run(const Tensors &inputs, const std::string &level, Order order, Pairs shared) const {
  Execution execution = prepare(inputs, level, shared);
  execution.run(order);
  Tensors results;
  for (unsigned i = 0; i < operation->getNumResults(); ++i)
    results.push_back(execution.result(i));
  return results;
}

std::vector<std::string> CompiledOp::levels() const {
  std::vector<std::string> names;
  for (const auto &[level, image] : images)
    names.push_back(level);
  return names;
}

bool CompiledOp::levelRunsHere(const std::string &level) {
  const bool pairs = level.ends_with("-bf16"); // the matrix unit is emulated where there is none
  return missingFeatures(level, pairs ? std::vector<std::string_view>{"avx512_bf16"}
                                      : std::vector<std::string_view>{})
      .empty();
}

// --- Comparison ---

void expectClose(const Tensor &actual, const Tensor &expected, double tolerance, const std::string &what) {
  ASSERT_EQ(actual.elements(), expected.elements());
  int failures = 0;
  for (int64_t i = 0; i < actual.elements() && failures < 5; ++i) {
    double a = actual.real(i), e = expected.real(i);
    bool close =
        std::isnan(e) ? std::isnan(a) : a == e || std::abs(a - e) <= tolerance * std::max(1.0, std::abs(e));
    if (!close) {
      ADD_FAILURE() << what << " element " << i << ": " << a << " instead of " << e;
      ++failures;
    }
  }
}

void expectSameBits(const Tensors &a, const Tensors &b, const std::string &what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].integers, b[i].integers) << what;
    bool same = a[i].reals.size() == b[i].reals.size() &&
                memcmp(a[i].reals.data(), b[i].reals.data(), a[i].reals.size() * sizeof(double)) == 0;
    EXPECT_TRUE(same) << what << ": result " << i << " has other bits";
  }
}

void expectMatchesReference(const CompiledOp &op, const Tensors &inputs, double tolerance) {
  ASSERT_TRUE(op);
  Tensors expected = op.reference(inputs), first = op.run(inputs);
  ASSERT_EQ(first.size(), expected.size());
  for (size_t i = 0; i < first.size(); ++i)
    expectClose(first[i], expected[i], tolerance, "result " + std::to_string(i));
  expectSameBits(op.run(inputs, "x86-64-v3", Order::Reversed), first, "tiles in reverse");
  expectSameBits(op.run(inputs, "x86-64-v3", Order::InThrees), first, "tiles in threes");
  if (CompiledOp::levelRunsHere("x86-64-v4"))
    expectSameBits(op.run(inputs, "x86-64-v4"), first, "x86-64-v4");
  for (auto pair : op.kernels().mayAlias)
    expectSameBits(op.run(inputs, "x86-64-v3", Order::AtOnce, pair), first, "in place");
}

void expectMatchesReference(const std::string &text, double tolerance, int64_t integerLimit) {
  CompiledOp op(text);
  ASSERT_TRUE(op);
  expectMatchesReference(op, op.randomInputs(integerLimit), tolerance);
}

} // namespace trainc::codegen::harness
