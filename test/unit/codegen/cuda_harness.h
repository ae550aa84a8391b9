// Compiles one op for target cuda, runs its PTX on the emulated GPU, and runs the reference on the same.
#pragma once

#include "test/emulator/device_memory.h"
#include "test/emulator/ptx/module.h"
#include "test/unit/codegen/kernel_harness.h"

namespace trainc::codegen::harness {

class CudaOp : public ParsedOp {
public:
  /// Parses and compiles; failures are reported to GoogleTest and leave the object empty. With `pads`, rows
  /// of supported operands have alignment padding, which is never initialised.
  explicit CudaOp(const std::string &text, bool pads = false);

  explicit operator bool() const { return !ptx.empty(); }
  const KernelSummary &kernels() const { return summary; }
  llvm::StringRef text() const { return ptx; }

  /// Runs all launches in order, each with its blocks and warps in an order determined by `seed`. Faults
  /// found by the emulator (races, accesses out of bounds or misaligned, unwritten results) fail the test.
  /// `shared` pairs (operand, result) use one buffer.
  reference::Tensors run(const reference::Tensors &inputs, uint64_t seed = 1,
                         CompiledOp::Pairs shared = {}) const;

  /// Runs the launch `index` in such an order, with addresses of the emulated GPU's memory.
  Status launch(size_t index, llvm::ArrayRef<uint64_t> arguments, emulator::DeviceMemory &memory,
                uint64_t seed) const;

private:
  void compile();
  void padRows();

  std::unique_ptr<Target> target;
  mlir::OwningOpRef<mlir::ModuleOp> kernelModule;
  KernelSummary summary;
  llvm::SmallVector<std::string> symbols; ///< of the launches
  std::string ptx;
  std::optional<emulator::PtxModule> image;
};

/// Expects equal bits in every order of blocks and warps, within `tolerance` of the reference.
void expectGpuMatchesReference(const std::string &text, double tolerance, int64_t integerLimit = 4);
void expectGpuMatchesReference(const CudaOp &op, const reference::Tensors &inputs, double tolerance);

/// As both targets' kernels do: expectMatchesReference() and expectGpuMatchesReference().
void expectTargetsMatchReference(const std::string &text, double tolerance, int64_t integerLimit = 4);

} // namespace trainc::codegen::harness
