#include "lib/Codegen/KernelSummary.h"

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Analysis/RowPadding.h"
#include "lib/Support/StoredElement.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

int64_t trainc::codegen::elementCount(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements();
}

static KernelParam tensorParam(KernelParam::Source source, unsigned index, plan::Access access, Value tensor,
                               int64_t padding) {
  Type element = storedElement(getElementTypeOrSelf(tensor));
  return {source, index, access, element, paddedBytes(tensor.getType(), padding)};
}

KernelParam trainc::codegen::operandParam(Operation *op, unsigned index) {
  return tensorParam(KernelParam::Source::Operand, index, plan::Access::read, op->getOperand(index),
                     operandPadding(op, index));
}

KernelParam trainc::codegen::resultParam(Operation *op, unsigned index, plan::Access access) {
  return tensorParam(KernelParam::Source::Result, index, access, op->getResult(index),
                     resultPadding(op, index));
}

KernelParam trainc::codegen::scratchParam(const KernelSummary &kernels, unsigned index, plan::Access access,
                                          Type element) {
  return {KernelParam::Source::Scratch, index, access, element, kernels.scratchBytes[index]};
}

int64_t trainc::codegen::paramBytes(const LaunchSummary &launch) {
  int64_t bytes = 0;
  for (const KernelParam &param : launch.params)
    bytes += param.bytes;
  return bytes;
}

std::optional<plan::KernelKind> trainc::codegen::kernelKind(Operation *op) {
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  if (!executable)
    return std::nullopt;
  switch (executable.getKernelClass()) {
  case KernelClass::Rows:
    return plan::KernelKind::rows;
  case KernelClass::StridedCopy:
  case KernelClass::RowCopy:
    return plan::KernelKind::copy;
  case KernelClass::Scatter:
    return plan::KernelKind::scatter;
  case KernelClass::Attention:
  case KernelClass::AttentionGrad:
    return plan::KernelKind::attention;
  case KernelClass::Gemm:
    return plan::KernelKind::gemm;
  case KernelClass::Alias:
  case KernelClass::Pack:
  case KernelClass::Collective:
  case KernelClass::Wait:
  case KernelClass::Loop:
  case KernelClass::RankSum:
    return std::nullopt;
  }
  llvm_unreachable("unknown kernel class");
}

/// Returns the numbers of the launch's parameters that may alias its parameter `written`.
static SmallVector<int64_t> mayAlias(const KernelSummary &summary, const LaunchSummary &launch,
                                     const KernelParam &written) {
  using Source = KernelParam::Source;
  SmallVector<int64_t> aliases;
  for (auto [index, param] : llvm::enumerate(launch.params))
    if (written.source == Source::Result && param.source == Source::Operand &&
        llvm::is_contained(summary.mayAlias, std::pair(param.index, written.index)))
      aliases.push_back(int64_t(index));
  return aliases;
}

plan::KernelOp trainc::codegen::declareKernel(OpBuilder &builder, Location loc, StringRef symbol,
                                              plan::KernelKind kind, const KernelSummary &summary,
                                              const LaunchSummary &launch) {
  SmallVector<Attribute> params;
  for (const KernelParam &param : launch.params)
    params.push_back(plan::ParamAttr::get(builder.getContext(), param.access, storedElement(param.element),
                                          param.bytes, mayAlias(summary, launch, param)));
  auto moved = launch.movedBytes ? builder.getI64IntegerAttr(*launch.movedBytes) : IntegerAttr();
  return plan::KernelOp::create(
      builder, loc, builder.getStringAttr(symbol), plan::KernelKindAttr::get(builder.getContext(), kind),
      builder.getArrayAttr(params), builder.getI64IntegerAttr(launch.grid),
      builder.getI64IntegerAttr(launch.flops), moved, builder.getI64IntegerAttr(launch.chain),
      builder.getI64IntegerAttr(launch.sharedBytes), builder.getI64IntegerAttr(launch.threads),
      builder.getI64IntegerAttr(launch.arithmetic));
}

int64_t trainc::codegen::argumentNumber(Operation *op, const KernelParam &param) {
  switch (param.source) {
  case KernelParam::Source::Operand:
    return param.index;
  case KernelParam::Source::Result:
    return op->getNumOperands() + param.index;
  case KernelParam::Source::Scratch:
    return op->getNumOperands() + op->getNumResults() + param.index;
  }
  llvm_unreachable("unknown source");
}

plan::LibraryCallSpecAttr trainc::codegen::specOf(Operation *op, const LibraryCall &call) {
  Builder builder(op->getContext());
  NamedAttrList operands;
  for (const auto &[name, param] : call.operands)
    operands.set(name, builder.getI64IntegerAttr(argumentNumber(op, param)));
  return plan::LibraryCallSpecAttr::get(op->getContext(), call.instruction,
                                        operands.getDictionary(op->getContext()),
                                        call.sizes.getDictionary(op->getContext()));
}
