// Launches of a row kernel.
#include "lib/Codegen/Kernels/Rows.h"
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/ConstantOperands.h"
#include "lib/Codegen/Kernels/RowsEmitter.h"
#include "lib/Codegen/Kernels/RowsFinish.h"
#include "lib/Support/StoredElement.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Returns the bytes of tables that gathers do not read.
static int64_t unreadBytes(nn::KernelOp kernel) {
  int64_t bytes = 0;
  for (auto [index, input] : llvm::enumerate(kernel.getInputs()))
    bytes += (elementCount(input) - kernel.readElements(index)) *
             elementBytes(storedElement(getElementTypeOrSelf(input)));
  return bytes;
}

/// Returns the number of instructions over all elements. Counts each op once, even if several passes compute
/// it.
static int64_t arithmeticOf(const RowsPlan &plan) {
  int64_t instructions = 0;
  for (Operation &op : plan.facts.kernel.getBody().front().without_terminator())
    instructions += isa<nn::ReduceOp>(op) ? elementCount(op.getOperand(0))
                                          : elementCount(op.getResult(0)) * plan.costOfBody(&op).weight;
  return instructions;
}

/// Returns the launch that processes the rows. Results that a later launch completes are not arguments.
static LaunchSummary summariseWalk(const RowsPlan &plan, const KernelSummary &kernels) {
  nn::KernelOp kernel = plan.facts.kernel;
  LaunchSummary launch{.name = "rows",
                       .grid = plan.grid,
                       .params = {},
                       .sharedBytes = plan.blockBytes,
                       .threads = plan.threads};
  for (unsigned i = 0; i < kernel.getNumOperands(); ++i)
    launch.params.push_back(operandParam(kernel, i));
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    if (!plan.isFinishedLater(i))
      launch.params.push_back(resultParam(kernel, i));
  for (const TileReduction &reduction : plan.tileReductions)
    if (!reduction.direct)
      launch.params.push_back(
          scratchParam(kernels, reduction.scratch, plan::Access::write, sumElement(reduction.op)));
  if (const int64_t unread = unreadBytes(kernel); unread > 0)
    launch.movedBytes = paramBytes(launch) - unread;
  launch.arithmetic = arithmeticOf(plan);
  return launch;
}

static KernelSummary summarise(const RowsPlan &plan) {
  KernelSummary kernels;
  for (const TileReduction &reduction : plan.tileReductions)
    if (!reduction.direct)
      kernels.scratchBytes.push_back(plan.scratchElements(reduction) *
                                     elementBytes(sumElement(reduction.op)));
  kernels.launches.push_back(summariseWalk(plan, kernels));
  summariseFinish(plan, kernels);
  kernels.mayAlias = plan.mayAlias();
  return kernels;
}

bool trainc::codegen::rowsTakePadding(nn::KernelOp kernel, Value value) {
  const RowFacts facts(kernel);
  auto isOfRows = [&](Value inside) {
    return !facts.isTable(inside) && facts.pattern(inside).isIdentity() && facts.isAlongColumns(inside) &&
           !facts.isReducedOverRows(inside);
  };
  if (facts.rows == 1 || cast<RankedTensorType>(value.getType()).getShape().back() != facts.columns)
    return false;
  for (auto [input, argument] : llvm::zip_equal(kernel.getInputs(), kernel.getBody().getArguments()))
    if (input == value && !isOfRows(argument))
      return false;
  for (auto [result, yielded] : llvm::zip_equal(kernel.getResults(), facts.yield().getValues()))
    if (result == value && !isOfRows(yielded))
      return false;
  return true;
}

KernelSummary trainc::codegen::summariseRows(nn::KernelOp kernel, const RowsTuning &tuning) {
  return summarise(RowsPlan(kernel, tuning));
}

Symbols trainc::codegen::generateRows(nn::KernelOp kernel, const RowsTuning &tuning, KernelModule &kernels) {
  const RowsPlan plan(kernel, tuning);
  const KernelSummary summary = summarise(plan);
  Symbols symbols = {RowsEmitter(plan, summary.launches.front(), kernels).run()};
  for (const LaunchSummary &finish : ArrayRef(summary.launches).drop_front())
    symbols.push_back(emitFinish(plan, finish, kernels));
  if (plan.threads > 1) // operands are the first parameters
    for (auto [operand, result] : summary.mayAlias)
      mayChange(kernels.lookup(symbols.front()), operand);
  return symbols;
}
