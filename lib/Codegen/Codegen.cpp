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
  if (auto kernel = dyn_cast<nn::KernelOp>(op))
    return generateRows(kernel, kernels);
  if (auto scatter = dyn_cast<nn::ScatterAddOp>(op))
    return generateScatter(scatter, kernels);
  if (auto gemm = dyn_cast<GemmOpInterface>(op))
    return generateGemm(gemm, kernels);
  if (auto attention = dyn_cast<nn::AttentionOp>(op))
    return generateAttention(attention, kernels);
  if (auto grad = dyn_cast<nn::AttentionGradOp>(op))
    return generateAttentionGrad(grad, kernels);
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  if (executable && executable.getKernelClass() == KernelClass::StridedCopy)
    return generateCopy(op, kernels);
  return op->emitOpError("has no CPU kernel");
}

OwningOpRef<ModuleOp> trainc::codegen::createKernelModule(MLIRContext &context) {
  context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                      math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  return ModuleOp::create(UnknownLoc::get(&context));
}
