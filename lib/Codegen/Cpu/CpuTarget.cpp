// Which generator makes the kernels of an op.
#include "lib/Codegen/Cpu/CpuTarget.h"

#include "lib/Codegen/Cpu/Generators.h"
#include "lib/Codegen/Cpu/Objects.h"
#include "lib/Codegen/KernelDialects.h"
#include "lib/Codegen/Target.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static constexpr StringLiteral kSplitProducts = "plan.split_products";

Fp32Products trainc::codegen::fp32Products(ModuleOp kernels) {
  return kernels->hasAttr(kSplitProducts) ? Fp32Products::Bf16x3 : Fp32Products::Fma;
}

namespace {

class CpuTarget : public Target {
public:
  explicit CpuTarget(Fp32Products products) : products_(products) {}

  StringRef name() const override { return "cpu"; }
  TargetLimits limits() const override { return kCpuLimits; }
  FailureOr<KernelSummary> summarise(Operation *op) const override;
  FailureOr<SmallVector<std::string>> generate(Operation *op, ModuleOp kernels) const override;
  FailureOr<std::vector<Object>> compile(ModuleOp kernels) const override { return compileObjects(kernels); }

private:
  void prepare(ModuleOp kernels) const override;

  Fp32Products products_;
};

} // namespace

FailureOr<KernelSummary> CpuTarget::summarise(Operation *op) const {
  switch (cast<ExecutableOpInterface>(op).getKernelClass()) {
  case KernelClass::Rows:
    return summariseRows(cast<nn::KernelOp>(op));
  case KernelClass::StridedCopy:
    return summariseCopy(cast<StridedCopyOpInterface>(op));
  case KernelClass::Scatter:
    return summariseScatter(cast<nn::ScatterAddOp>(op));
  case KernelClass::Gemm:
    return summariseGemm(cast<GemmOpInterface>(op), products_);
  case KernelClass::Attention:
    return summariseAttention(cast<nn::AttentionOp>(op));
  case KernelClass::AttentionGrad:
    return summariseAttentionGrad(cast<nn::AttentionGradOp>(op));
  case KernelClass::Alias:
  case KernelClass::Pack:
  case KernelClass::Collective:
  case KernelClass::Wait:
  case KernelClass::Loop:
    break;
  }
  llvm_unreachable("an op that runs no generated code");
}

FailureOr<SmallVector<std::string>> CpuTarget::generate(Operation *op, ModuleOp kernels) const {
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

void CpuTarget::prepare(ModuleOp kernels) const {
  MLIRContext *context = kernels.getContext();
  context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                       math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  if (products_ == Fp32Products::Bf16x3)
    kernels->setAttr(kSplitProducts, UnitAttr::get(context));
}

std::unique_ptr<Target> trainc::codegen::createCpuTarget(Fp32Products products) {
  return std::make_unique<CpuTarget>(products);
}
