// Which generator makes the kernels of an op.
#include "lib/Codegen/Codegen.h"

#include "lib/Codegen/Generators.h"
#include "lib/Codegen/RowsEmitter.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static FailureOr<GeneratedKernels> generateRows(nn::KernelOp kernel, ModuleOp kernels) {
  FailureOr<IterationSpace> space = IterationSpace::of(kernel);
  if (failed(space))
    return failure();
  RowsPlan plan(kernel, std::move(*space));
  GeneratedKernels generated;
  RowsEmitter(plan, kernels, generated).run();
  emitFinish(plan, kernels, generated);
  generated.mayAlias = plan.mayAlias();
  return generated;
}

FailureOr<GeneratedKernels> trainc::codegen::generate(Operation *op, ModuleOp kernels) {
  switch (cast<ExecutableOpInterface>(op).getKernelClass()) {
  case KernelClass::Rows:
    return generateRows(cast<nn::KernelOp>(op), kernels);
  case KernelClass::StridedCopy:
    return generateCopy(cast<StridedCopyOpInterface>(op), kernels);
  case KernelClass::Scatter:
    return generateScatter(cast<nn::ScatterAddOp>(op), kernels);
  case KernelClass::Gemm:
    return generateGemm(cast<GemmOpInterface>(op), kernels);
  case KernelClass::Attention:
    return generateAttention(cast<nn::AttentionOp>(op), kernels);
  case KernelClass::AttentionGrad:
    return generateAttentionGrad(cast<nn::AttentionGradOp>(op), kernels);
  case KernelClass::Alias:
  case KernelClass::Pack:
  case KernelClass::Collective:
  case KernelClass::Wait:
  case KernelClass::Loop:
    break;
  }
  llvm_unreachable("an op that runs no generated code");
}

static constexpr StringLiteral kSplitProducts = "plan.split_products";

OwningOpRef<ModuleOp> trainc::codegen::createKernelModule(MLIRContext &context, Fp32Products products) {
  context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                      math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  ModuleOp module = ModuleOp::create(UnknownLoc::get(&context));
  if (products == Fp32Products::Bf16x3)
    module->setAttr(kSplitProducts, UnitAttr::get(&context));
  return module;
}

Fp32Products trainc::codegen::fp32Products(ModuleOp kernels) {
  return kernels->hasAttr(kSplitProducts) ? Fp32Products::Bf16x3 : Fp32Products::Fma;
}
