#include "lib/Analysis/InstructionCost.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace mlir;

namespace trainc {

// --- Launches ---

static plan::KernelOp kernelOf(plan::LaunchOp launch, const SymbolTable &symbols) {
  return symbols.lookup<plan::KernelOp>(launch.getKernel());
}

/// Of the first operand, a factor of products and the queries of attention.
static Type firstElement(plan::KernelOp kernel) {
  return (*kernel.getParams().getAsRange<plan::ParamAttr>().begin()).getElement();
}

static double workRate(plan::KernelOp kernel, const Machine &machine) {
  switch (kernel.getKind()) {
  case plan::KernelKind::gemm: // those for GPUs, of many threads, use no tensor cores
    return kernel.getThreads() > 1 ? machine.flopsPerSecond : productRate(firstElement(kernel), machine);
  case plan::KernelKind::attention:
    return attentionRate(firstElement(kernel), machine);
  default:
    return machine.flopsPerSecond;
  }
}

/// A copy's parameters are whole tensors, of which it may touch a part: as much as the smaller one has.
static double bytesOf(plan::KernelOp kernel) {
  const auto params = kernel.getParams().getAsRange<plan::ParamAttr>();
  double all = 0, least = std::numeric_limits<double>::infinity();
  for (auto param : params) {
    const auto bytes = double(param.getBytes());
    all += bytes * (param.getAccess() == plan::Access::read_write ? 2 : 1);
    least = std::min(least, bytes);
  }
  return kernel.getKind() == plan::KernelKind::copy ? 2 * least : all;
}

static Cost launchCost(plan::LaunchOp launch, const SymbolTable &symbols, const Machine &machine) {
  plan::KernelOp kernel = kernelOf(launch, symbols);
  if (!kernel)
    return {.launchSeconds = machine.launchSeconds};
  const double bytes = bytesOf(kernel);
  const double threads = double(kernel.getGrid()) * double(kernel.getThreads());
  const auto flops = double(kernel.getFlops());
  return {.flops = flops,
          .bytes = bytes,
          .workSeconds = flops / workRate(kernel, machine),
          .byteSeconds = bytes / std::min(machine.bytesPerSecond, threads * machine.threadBytesPerSecond),
          .launchSeconds = machine.launchSeconds};
}

// --- Library calls ---

static double workRate(plan::MatrixProductOp product, const Machine &machine) {
  const Type factors = product.getFactors().value_or(Float32Type::get(product.getContext()));
  if (product.getTf32())
    return machine.tf32FlopsPerSecond;
  const bool isAligned =
      llvm::all_of(ArrayRef{product.getRowA(), product.getRowB(), product.getRowResult()},
                   [&](uint64_t row) { return row * factors.getIntOrFloatBitWidth() % (16 * 8) == 0; });
  return productRate(factors, machine) * (isShortElement(factors) && !isAligned ? machine.unalignedShare : 1);
}

static double workRate(plan::AttentionOp attention, const SymbolTable &symbols, const Machine &machine) {
  auto queries = symbols.lookup<plan::BufferOp>(attention.getQuery().getBuffer().getValue());
  if (!queries || !isShortElement(queries.getElement()))
    return machine.flopsPerSecond;
  return attention.getPass() == plan::AttentionPass::forward ? machine.libraryAttentionFlopsPerSecond
                                                             : machine.libraryAttentionGradFlopsPerSecond;
}

static double workRate(plan::LibraryCallOpInterface call, const SymbolTable &symbols,
                       const Machine &machine) {
  if (auto product = dyn_cast<plan::MatrixProductOp>(*call))
    return workRate(product, machine);
  return workRate(cast<plan::AttentionOp>(*call), symbols, machine);
}

static Cost callCost(plan::LibraryCallOpInterface call, const SymbolTable &symbols, const Machine &machine) {
  double bytes = 0;
  for (const plan::OperandUse &use : call.getOperandUses())
    if (!use.isWorkspace)
      bytes += double(use.bytes) * (use.reads && use.writes ? 2 : 1);
  return {.flops = call.getFlops(),
          .bytes = bytes,
          .workSeconds = call.getFlops() / workRate(call, symbols, machine),
          .byteSeconds = bytes / machine.bytesPerSecond,
          .launchSeconds = machine.launchSeconds};
}

// --- All instructions ---

Cost instructionCost(Operation &op, const SymbolTable &symbols, const Machine &machine) {
  const auto moved = [&](double bytes) {
    return Cost{.bytes = bytes,
                .byteSeconds = bytes / machine.bytesPerSecond,
                .launchSeconds = machine.launchSeconds};
  };
  if (auto launch = dyn_cast<plan::LaunchOp>(op))
    return launchCost(launch, symbols, machine);
  if (auto call = dyn_cast<plan::LibraryCallOpInterface>(op))
    return callCost(call, symbols, machine);
  if (auto copy = dyn_cast<plan::CopyOp>(op))
    return moved(2.0 * double(copy.getBytes()));
  if (auto zero = dyn_cast<plan::ZeroOp>(op))
    return moved(double(zero.getBytes()));
  return {};
}

double instructionSeconds(Operation &op, const SymbolTable &symbols, const Machine &machine) {
  auto loop = dyn_cast<plan::LoopOp>(op);
  if (!loop)
    return instructionCost(op, symbols, machine).seconds();
  double total = 0;
  for (Operation &inner : loop.getBody().front())
    total += instructionSeconds(inner, symbols, machine);
  return double(loop.getCount()) * total;
}

// --- Rows ---

static std::string describe(Operation &op) {
  if (auto launch = dyn_cast<plan::LaunchOp>(op))
    return launch.getKernel().str();
  std::string text = op.getName().stripDialect().str();
  llvm::raw_string_ostream stream(text);
  if (auto product = dyn_cast<plan::MatrixProductOp>(op)) {
    if (product.getBatch() > 1)
      stream << " batch " << product.getBatch();
    stream << " " << product.getM() << " x " << product.getN() << " x " << product.getK();
    if (auto factors = product.getFactors())
      stream << " " << *factors;
    if (product.getAdds())
      stream << " adds";
    if (product.getActivation() != Activation::none)
      stream << " " << stringifyActivation(product.getActivation());
  } else if (auto attention = dyn_cast<plan::AttentionOp>(op)) {
    stream << " " << plan::stringifyAttentionPass(attention.getPass());
  }
  return text;
}

static void addCosts(Block &block, double runs, const SymbolTable &symbols, const Machine &machine,
                     std::vector<CostRow> &rows) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<plan::LoopOp>(op)) {
      addCosts(loop.getBody().front(), runs * double(loop.getCount()), symbols, machine, rows);
      continue;
    }
    auto instruction = dyn_cast<plan::InstructionOpInterface>(op);
    const Cost cost = instructionCost(op, symbols, machine);
    if (!instruction || cost.seconds() == 0)
      continue;
    const std::string what = describe(op);
    auto known = llvm::find_if(rows, [&](const CostRow &row) {
      return row.what == what && row.each.bytes == cost.bytes && row.each.workSeconds == cost.workSeconds;
    });
    if (known == rows.end())
      known = rows.insert(rows.end(), {what, instruction.getSourceOp().str(), 0, cost});
    known->count += runs;
  }
}

void addCosts(plan::EntryOp entry, double runs, const Machine &machine, std::vector<CostRow> &rows) {
  addCosts(entry.getBody().front(), runs, SymbolTable(entry->getParentOp()), machine, rows);
}

} // namespace trainc
