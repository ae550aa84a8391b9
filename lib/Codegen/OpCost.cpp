#include "lib/Codegen/OpCost.h"

#include "dialects/NN/NN.h"
#include "lib/Plan/EmittedPlan.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static Work workOf(Operation &op, const LibraryCall &call) {
  OpBuilder builder(op.getContext());
  const auto anywhere = plan::OperandAttr::get(
      op.getContext(), FlatSymbolRefAttr::get(op.getContext(), "anywhere"), /*offset=*/0, 0, 0, {});
  Operation *instruction =
      specOf(&op, call).build(builder, op.getLoc(), /*source=*/"", [&](int64_t) { return anywhere; });
  const Work work = workOfCall(instruction);
  instruction->erase();
  return work;
}

static Work workOf(Operation &op, const KernelSummary &summary, const LaunchSummary &launch) {
  OpBuilder builder(op.getContext());
  plan::KernelOp kernel = declareKernel(builder, op.getLoc(), launch.name, *kernelKind(&op), summary, launch);
  const Work work = trainc::workOf(kernel);
  kernel.erase();
  return work;
}

static double priceOf(Operation &op, const KernelSummary &summary, const Machine &machine) {
  double total = summary.library ? costOf(workOf(op, *summary.library), machine).seconds() : 0;
  for (const LaunchSummary &launch : summary.launches)
    total += costOf(workOf(op, summary, launch), machine).seconds();
  return total;
}

FailureOr<double> trainc::codegen::secondsOf(Operation &op, const Target &target, const Machine &machine) {
  if (!kernelKind(&op))
    return 0.0;
  FailureOr<KernelSummary> summary = target.summarise(&op);
  if (failed(summary))
    return failure();
  return priceOf(op, *summary, machine);
}

FailureOr<double> OpCosts::seconds(Operation &op) {
  if (auto loop = dyn_cast<nn::ChunksOp>(op)) {
    double total = 0;
    for (Operation &inner : loop.getBody().front()) {
      FailureOr<double> each = seconds(inner);
      if (failed(each))
        return failure();
      total += *each;
    }
    return double(loop.getCount()) * total;
  }
  if (!kernelKind(&op))
    return 0.0;
  if (auto found = known_.find(&op); found != known_.end())
    return found->second;
  FailureOr<KernelSummary> summary = summaries_->of(&op, target_);
  if (failed(summary))
    return failure();
  return known_[&op] = priceOf(op, *summary, machine_);
}
