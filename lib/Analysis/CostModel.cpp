#include "lib/Analysis/CostModel.h"

#include "llvm/TargetParser/Host.h"

#include <thread>

using namespace mlir;

namespace trainc {

Machine Machine::thisOne() {
  double cores = std::max(1u, std::thread::hardware_concurrency());
  bool avx512 = llvm::sys::getHostCPUFeatures().lookup("avx512f");
  // Per core: kernels of single-precision matrix products, and those that stream through memory.
  return {.flopsPerSecond = cores * (avx512 ? 105e9 : 67e9),
          .bytesPerSecond = cores * 20e9,
          .launchSeconds = 3e-6};
}

static double seconds(double flops, double bytes, const Machine &machine) {
  return machine.launchSeconds + std::max(flops / machine.flopsPerSecond, bytes / machine.bytesPerSecond);
}

static double launchSeconds(plan::LaunchOp launch, const SymbolTable &symbols, const Machine &machine) {
  auto kernel = symbols.lookup<plan::KernelOp>(launch.getKernel());
  if (!kernel)
    return machine.launchSeconds;
  double bytes = 0;
  for (auto param : kernel.getParams().getAsRange<plan::ParamAttr>())
    bytes += double(param.getBytes()) * (param.getAccess() == plan::Access::read_write ? 2 : 1);
  return seconds(double(kernel.getFlops()), bytes, machine);
}

static double blockSeconds(Block &block, const SymbolTable &symbols, const Machine &machine) {
  double total = 0;
  for (Operation &op : block) {
    if (auto launch = dyn_cast<plan::LaunchOp>(op))
      total += launchSeconds(launch, symbols, machine);
    else if (auto copy = dyn_cast<plan::CopyOp>(op))
      total += seconds(0, 2.0 * double(copy.getBytes()), machine);
    else if (auto zero = dyn_cast<plan::ZeroOp>(op))
      total += seconds(0, double(zero.getBytes()), machine);
    else if (auto loop = dyn_cast<plan::LoopOp>(op))
      total += double(loop.getCount()) * blockSeconds(loop.getBody().front(), symbols, machine);
  }
  return total;
}

double predictSeconds(plan::EntryOp entry, const Machine &machine) {
  SymbolTable symbols(entry->getParentOp());
  return blockSeconds(entry.getBody().front(), symbols, machine);
}

} // namespace trainc
