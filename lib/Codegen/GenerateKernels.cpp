// The pass generate-kernels: kernels for all scheduled ops, and on each op how they are launched.
#include "dialects/Interfaces/Interfaces.h"
#include "lib/Analysis/Concrete.h"
#include "lib/Codegen/Codegen.h"
#include "lib/Codegen/EqualOps.h"
#include "lib/Codegen/Passes.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_GENERATEKERNELSPASS
#include "lib/Codegen/Passes.h.inc"

namespace {

struct GenerateKernelsPass : impl::GenerateKernelsPassBase<GenerateKernelsPass> {
  using GenerateKernelsPassBase::GenerateKernelsPassBase;

  void runOnOperation() override;

private:
  void declare(const codegen::KernelLaunch &launch, plan::KernelKind kind, Location loc);
  void annotate(Operation *op, const codegen::GeneratedKernels &kernels);

  llvm::StringSet<> declared_;
};

/// What the kernels of `op` compute; nothing for ops that run no generated code.
std::optional<plan::KernelKind> kernelKind(Operation *op) {
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  if (!executable)
    return std::nullopt;
  switch (executable.getKernelClass()) {
  case KernelClass::Rows:
    return plan::KernelKind::rows;
  case KernelClass::StridedCopy:
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
    return std::nullopt;
  }
  llvm_unreachable("unknown kernel class");
}

plan::Access planAccess(codegen::Access access) {
  switch (access) {
  case codegen::Access::Read:
    return plan::Access::read;
  case codegen::Access::Write:
    return plan::Access::write;
  case codegen::Access::ReadWrite:
    return plan::Access::read_write;
  }
  llvm_unreachable("unknown access");
}

/// Position of an argument in the numbering of plan.launch_spec: operands, then results, then scratch.
int64_t argumentNumber(Operation *op, const codegen::KernelParam &param) {
  switch (param.source) {
  case codegen::KernelParam::Source::Operand:
    return param.index;
  case codegen::KernelParam::Source::Result:
    return op->getNumOperands() + param.index;
  case codegen::KernelParam::Source::Scratch:
    return op->getNumOperands() + op->getNumResults() + param.index;
  }
  llvm_unreachable("unknown source");
}

} // namespace

void GenerateKernelsPass::declare(const codegen::KernelLaunch &launch, plan::KernelKind kind, Location loc) {
  if (!declared_.insert(launch.symbol).second)
    return;
  MLIRContext *context = &getContext();
  SmallVector<Attribute> params;
  for (const codegen::KernelParam &param : launch.params)
    params.push_back(
        plan::ParamAttr::get(context, planAccess(param.access), storedElement(param.element), param.bytes));
  OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
  plan::KernelOp::create(builder, loc, launch.symbol, kind, builder.getArrayAttr(params), launch.grid,
                         launch.flops);
}

void GenerateKernelsPass::annotate(Operation *op, const codegen::GeneratedKernels &kernels) {
  MLIRContext *context = &getContext();
  Builder builder(context);
  SmallVector<Attribute> launches, aliases;
  for (const codegen::KernelLaunch &launch : kernels.launches) {
    SmallVector<int64_t> args;
    for (const codegen::KernelParam &param : launch.params)
      args.push_back(argumentNumber(op, param));
    launches.push_back(
        plan::LaunchSpecAttr::get(context, FlatSymbolRefAttr::get(context, launch.symbol), args));
  }
  for (auto [operand, result] : kernels.mayAlias)
    aliases.push_back(builder.getDenseI64ArrayAttr({int64_t(operand), int64_t(result)}));
  op->setAttr("plan.launches", builder.getArrayAttr(launches));
  if (!kernels.scratchBytes.empty())
    op->setAttr("plan.scratch", builder.getDenseI64ArrayAttr(kernels.scratchBytes));
  if (!aliases.empty())
    op->setAttr("plan.may_alias", builder.getArrayAttr(aliases));
}

void GenerateKernelsPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(requireConcrete(module)))
    return signalPassFailure();
  declared_.clear();
  SmallVector<std::pair<Operation *, plan::KernelKind>> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::optional<plan::KernelKind> kind = kernelKind(op);
    if (!kind)
      return WalkResult::advance();
    ops.emplace_back(op, *kind);
    return WalkResult::skip(); // a kernel's region is part of it
  });
  OwningOpRef<ModuleOp> kernels = codegen::createKernelModule(getContext(), products);
  // Layers repeat: most ops equal an earlier one. They are compared before any is annotated.
  DenseMap<Operation *, size_t, codegen::EqualOps> known;
  std::vector<codegen::GeneratedKernels> made;
  SmallVector<size_t> chosen; // of `made`, for each op
  for (auto [op, kind] : ops) {
    auto [entry, isNew] = known.try_emplace(op, made.size());
    chosen.push_back(entry->second);
    if (!isNew)
      continue;
    FailureOr<codegen::GeneratedKernels> generated = codegen::generate(op, *kernels);
    if (failed(generated))
      return signalPassFailure();
    for (const codegen::KernelLaunch &launch : generated->launches)
      declare(launch, kind, op->getLoc());
    made.push_back(std::move(*generated));
  }
  for (auto [launched, index] : llvm::zip_equal(ops, chosen))
    annotate(launched.first, made[index]);
  kernels->setName("kernels");
  module.push_back(kernels.release());
}

} // namespace trainc
