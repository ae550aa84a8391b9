// NVIDIA's GPUs: which generator makes the kernels of an op, and what cuBLASLt does.
#include "dialects/Train/Precision.h"
#include "dialects/Train/Sharding.h"
#include "dialects/Train/Train.h"
#include "lib/Codegen/Cuda/CudaMachine.h"
#include "lib/Codegen/Cuda/Generators.h"
#include "lib/Codegen/Cuda/Ptx.h"
#include "lib/Codegen/KernelDialects.h"
#include "lib/Codegen/LibraryCalls.h"
#include "lib/Codegen/Target.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// What a kernel may take of a block's memory lets several blocks run on a multiprocessor at a time.
static constexpr TargetLimits kGpuLimits{.bufferAlignment = 64, .longestRow = 65536, .blockBytes = 32 << 10};
static constexpr RowsTuning kRows{.blockBytes = kGpuLimits.blockBytes, .partialTiles = 256, .threads = 512};

/// What cuBLASLt asks for to split long sums of products among blocks (cuBLAS 13.0,
/// cublasLtMatmulPreference).
static constexpr int64_t kProductWorkspace = 32 << 20;

namespace {

class CudaTarget : public Target {
public:
  explicit CudaTarget(Fp32Products products) : products_(products) {}

  StringRef name() const override { return "cuda"; }
  LogicalResult settle(train::ProgramOp program) const override;
  TargetLimits limits() const override { return kGpuLimits; }
  Machine referenceMachine() const override { return referenceGpu(); }
  Machine thisMachine(int64_t ranks) const override { return referenceGpu(); }
  LibraryCalls libraryCalls() const override {
    return {.products = true, .attention = false, .exactGelu = false};
  }
  FailureOr<KernelSummary> summarise(Operation *op) const override;
  FailureOr<SmallVector<std::string>> generate(Operation *op, KernelModule &kernels) const override;
  FailureOr<std::vector<Object>> compile(ModuleOp kernels) const override { return compileForGpus(kernels); }

private:
  LogicalResult checkCollectives(train::ProgramOp program) const;
  void prepare(ModuleOp kernels) const override;

  Fp32Products products_;
};

} // namespace

LogicalResult CudaTarget::settle(train::ProgramOp program) const {
  if (products_ == Fp32Products::Bf16x3)
    return program.emitError(
        "fp32_products (--fp32-products) bf16x3 is for CPUs with AMX; for target cuda choose "
        "fma, or tf32, which rounds numbers to 11 significant bits");
  if (program.getCpu())
    return program.emitError(
        "cpu (--cpu) chooses levels of CPUs, which target cuda has no code for; leave it out");
  return checkCollectives(program);
}

/// Sums over a tree of more than two ranks need a kernel beside NCCL. NCCL's sums are as short as what is
/// summed, so groups would round twice.
LogicalResult CudaTarget::checkCollectives(train::ProgramOp program) const {
  const train::ShardingSettings sharding = train::shardingOf(program);
  if (sharding.reproducibleOverRanks && program.getRanks() > 2)
    return program.emitError(
        "sharding reproducible ranks (--reproducible=ranks) has no sums for more than two ranks "
        "of target cuda yet; leave it out: the same ranks repeat their bits");
  const bool hasGroups = sharding.shardRanks > 1 && sharding.shardRanks < int64_t(program.getRanks());
  if (hasGroups && !train::precisionOf(program).reduce.isF32())
    return program.emitError(
        "sharding hybrid_shard (--hybrid-shard) has no sums of gradients below f32 for target cuda yet "
        "(reduce, --reduce-type): sum them in f32, or leave the groups out");
  return success();
}

FailureOr<KernelSummary> CudaTarget::summarise(Operation *op) const {
  switch (cast<ExecutableOpInterface>(op).getKernelClass()) {
  case KernelClass::Rows:
    return summariseRows(cast<nn::KernelOp>(op), kRows);
  case KernelClass::StridedCopy:
    return cuda::summariseCopy(cast<StridedCopyOpInterface>(op));
  case KernelClass::Scatter:
    return cuda::summariseScatter(cast<nn::ScatterAddOp>(op));
  case KernelClass::Gemm: {
    auto product = cast<GemmOpInterface>(op);
    return canBeLibraryProduct(product, /*takesShort=*/true)
               ? libraryProduct(product, kProductWorkspace, products_ == Fp32Products::Tf32)
               : cuda::summariseGemm(product);
  }
  case KernelClass::Attention:
    return cuda::summariseAttention(cast<nn::AttentionOp>(op));
  case KernelClass::AttentionGrad:
    return cuda::summariseAttentionGrad(cast<nn::AttentionGradOp>(op));
  case KernelClass::Alias:
  case KernelClass::Pack:
  case KernelClass::Collective:
  case KernelClass::Wait:
  case KernelClass::Loop:
    break;
  }
  llvm_unreachable("an op that runs no generated code");
}

FailureOr<SmallVector<std::string>> CudaTarget::generate(Operation *op, KernelModule &kernels) const {
  switch (cast<ExecutableOpInterface>(op).getKernelClass()) {
  case KernelClass::Rows:
    return generateRows(cast<nn::KernelOp>(op), kRows, kernels);
  case KernelClass::StridedCopy:
    return cuda::generateCopy(cast<StridedCopyOpInterface>(op), kernels);
  case KernelClass::Scatter:
    return cuda::generateScatter(cast<nn::ScatterAddOp>(op), kernels);
  case KernelClass::Gemm:
    return cuda::generateGemm(cast<GemmOpInterface>(op), kernels);
  case KernelClass::Attention:
    return cuda::generateAttention(cast<nn::AttentionOp>(op), kernels);
  case KernelClass::AttentionGrad:
    return cuda::generateAttentionGrad(cast<nn::AttentionGradOp>(op), kernels);
  case KernelClass::Alias:
  case KernelClass::Pack:
  case KernelClass::Collective:
  case KernelClass::Wait:
  case KernelClass::Loop:
    break;
  }
  llvm_unreachable("an op that runs no generated code");
}

void CudaTarget::prepare(ModuleOp kernels) const {
  kernels.getContext()
      ->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                    NVVM::NVVMDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
}

std::unique_ptr<Target> trainc::codegen::createCudaTarget(Fp32Products products) {
  return std::make_unique<CudaTarget>(products);
}
