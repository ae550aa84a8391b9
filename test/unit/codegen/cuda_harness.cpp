#include "test/unit/codegen/cuda_harness.h"

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Analysis/RowPadding.h"
#include "lib/Codegen/Cuda/CudaMachine.h"
#include "lib/Codegen/Cuda/CudaTarget.h"
#include "lib/Codegen/Cuda/Ptx.h"
#include "lib/Support/StoredElement.h"
#include "plan/schema/cuda_levels.h"
#include "test/emulator/ptx/launch.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace mlir;
using trainc::emulator::DeviceMemory;
using trainc::reference::Tensor;
using trainc::reference::Tensors;

namespace trainc::codegen::harness {

CudaOp::CudaOp(const std::string &text, bool pads)
    : target(createCudaTarget({.libraryCalls = {.products = true, .exactGelu = false, .auxiliaryRow = 8},
                               .gpu = std::string(kDefaultGpu)})) {
  SCOPED_TRACE(text);
  parse(text);
  if (operation && pads)
    padRows();
  if (operation)
    compile();
}

void CudaOp::padRows() {
  const int64_t alignment = target->rowAlignment();
  auto pad = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() < 2 || !target->takesPadding(operation, value))
      return;
    const int64_t element = elementBytes(type.getElementType()), row = type.getShape().back() * element;
    setRowPadding(operation, value, (int64_t(llvm::alignTo(row, alignment)) - row) / element);
  };
  llvm::for_each(operation->getOperands(), pad);
  llvm::for_each(operation->getResults(), pad);
}

/// Bytes of a block's memory that no code declares.
static int64_t givenAtLaunch(const LaunchSummary &launch) {
  return launch.sharedBytes > kCudaStaticSharedBytes ? launch.sharedBytes : 0;
}

void CudaOp::compile() {
  kernelModule = target->createModule(context);
  auto known = target->summarise(operation);
  ASSERT_TRUE(succeeded(known));
  summary = std::move(*known);
  ASSERT_FALSE(summary.library) << "expected code, found a call of a library";
  KernelModule kernels(*kernelModule);
  auto made = target->generate(operation, kernels);
  ASSERT_TRUE(succeeded(made));
  symbols = std::move(*made);
  auto code = compileToPtx(*kernelModule);
  ASSERT_TRUE(succeeded(code));
  Result<emulator::PtxModule> parsed = emulator::PtxModule::parse(*code);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  for (auto [launch, symbol] : llvm::zip_equal(summary.launches, symbols)) {
    const emulator::PtxFunction *kernel = parsed->find(symbol);
    ASSERT_NE(kernel, nullptr) << "no symbol " << symbol;
    EXPECT_EQ(kernel->sharedBytes, launch.sharedBytes - givenAtLaunch(launch)) << symbol;
    EXPECT_EQ(kernel->maxThreads, launch.threads) << symbol;
    EXPECT_EQ(kernel->parameters.size(), launch.params.size()) << symbol;
  }
  image = std::move(*parsed);
  ptx = std::move(*code);
}

namespace {

/// Buffers of the emulated GPU for one execution.
class DeviceBuffers {
public:
  uint64_t add(int64_t bytes) { return memory.allocate(std::max<int64_t>(bytes, 1)); }
  uint64_t add(const Tensor &tensor, int64_t padding) {
    const check::Buffer bytes(tensor);
    const uint64_t address = add(paddedBytes(tensor.type(), padding));
    eachRow(tensor.type(), address, padding, [&](uint64_t row, int64_t from, int64_t count) {
      std::memcpy(memory.bytes(row, count), static_cast<std::byte *>(bytes.data()) + from, count);
      memory.noteWritten(row, count);
    });
    return address;
  }
  Tensor read(uint64_t address, RankedTensorType type, int64_t padding) {
    check::Buffer bytes(tensorBytes(type));
    eachRow(type, address, padding, [&](uint64_t row, int64_t to, int64_t count) {
      EXPECT_TRUE(memory.isWritten(row, count)) << "a part of the result was not written";
      std::memcpy(static_cast<std::byte *>(bytes.data()) + to, memory.bytes(row, count), count);
      expectZeros(row + count, padding * elementBytes(type.getElementType()));
    });
    return bytes.read(type);
  }

private:
  /// visit(address of a row, its first byte without padding, its bytes)
  static void eachRow(RankedTensorType type, uint64_t address, int64_t padding,
                      llvm::function_ref<void(uint64_t, int64_t, int64_t)> visit) {
    const int64_t rows = padding == 0 ? 1 : ShapedType::getNumElements(type.getShape().drop_back());
    const int64_t bytes = tensorBytes(type) / rows, distance = paddedBytes(type, padding) / rows;
    for (int64_t row = 0; row < rows; ++row)
      visit(address + row * distance, row * bytes, bytes);
  }

  void expectZeros(uint64_t address, int64_t bytes) {
    for (int64_t i = 0; i < bytes; ++i)
      EXPECT_TRUE(memory.isWritten(address + i, 1) && *memory.bytes(address + i, 1) == std::byte{0})
          << "expected zeros after a row";
  }

public:
  DeviceMemory memory{uint64_t(1) << 30};
};

} // namespace

Status CudaOp::launch(size_t index, ArrayRef<uint64_t> arguments, DeviceMemory &memory, uint64_t seed) const {
  const LaunchSummary &launch = summary.launches[index];
  const emulator::PtxLaunch request{.function = image->find(symbols[index]),
                                    .grid = {uint32_t(launch.grid), 1, 1},
                                    .block = {uint32_t(launch.threads), 1, 1},
                                    .dynamicSharedBytes = uint32_t(givenAtLaunch(launch)),
                                    .parameters =
                                        std::as_bytes(std::span(arguments.data(), arguments.size()))};
  return emulator::run(request, memory, seed);
}

Tensors CudaOp::run(const Tensors &inputs, uint64_t seed, CompiledOp::Pairs shared) const {
  DeviceBuffers buffers;
  std::vector<uint64_t> operands, results, scratch;
  for (auto [index, operand] : llvm::enumerate(operation->getOperands()))
    operands.push_back(
        buffers.add(inputs[cast<BlockArgument>(operand).getArgNumber()], operandPadding(operation, index)));
  std::vector<RankedTensorType> types;
  for (auto [index, result] : llvm::enumerate(operation->getResults())) {
    types.push_back(cast<RankedTensorType>(result.getType()));
    int inPlace = cast<ExecutableOpInterface>(operation).getInPlaceOperand(index);
    for (auto [operand, shares] : shared)
      if (shares == index && inPlace < 0)
        inPlace = int(operand);
    results.push_back(inPlace >= 0 ? operands[inPlace] : buffers.add(paddedBytes(result)));
  }
  for (int64_t bytes : summary.scratchBytes)
    scratch.push_back(buffers.add(bytes));
  for (auto [index, launch] : llvm::enumerate(summary.launches)) {
    std::vector<uint64_t> arguments;
    for (const KernelParam &param : launch.params)
      arguments.push_back(param.source == KernelParam::Source::Operand  ? operands[param.index]
                          : param.source == KernelParam::Source::Result ? results[param.index]
                                                                        : scratch[param.index]);
    const Status status = this->launch(index, arguments, buffers.memory, seed);
    EXPECT_TRUE(status.ok()) << status.message();
    if (!status.ok())
      return {};
  }
  Tensors read;
  for (auto [index, address] : llvm::enumerate(results))
    read.push_back(buffers.read(address, types[index], resultPadding(operation, index)));
  return read;
}

void expectGpuMatchesReference(const CudaOp &op, const Tensors &inputs, double tolerance) {
  ASSERT_TRUE(op);
  const Tensors expected = op.reference(inputs), first = op.run(inputs);
  ASSERT_EQ(first.size(), expected.size());
  for (size_t i = 0; i < first.size(); ++i)
    expectClose(first[i], expected[i], tolerance, "result " + std::to_string(i));
  expectSameBits(op.run(inputs, /*seed=*/2), first, "another order");
  for (auto pair : op.kernels().mayAlias)
    expectSameBits(op.run(inputs, /*seed=*/3, pair), first, "in place");
}

void expectGpuMatchesReference(const std::string &text, double tolerance, int64_t integerLimit) {
  CudaOp op(text);
  ASSERT_TRUE(op);
  expectGpuMatchesReference(op, op.randomInputs(integerLimit), tolerance);
}

void expectTargetsMatchReference(const std::string &text, double tolerance, int64_t integerLimit) {
  expectMatchesReference(text, tolerance, integerLimit);
  SCOPED_TRACE("target cuda");
  expectGpuMatchesReference(text, tolerance, integerLimit);
}

} // namespace trainc::codegen::harness
