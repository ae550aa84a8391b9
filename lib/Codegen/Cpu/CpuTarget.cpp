// The target of x86-64 CPUs: dispatch of ops to generators.
#include "lib/Codegen/Cpu/CpuTarget.h"

#include "base/cpu_features.h"
#include "dialects/NN/Builders.h"
#include "dialects/Train/Precision.h"
#include "dialects/Train/ProgramSettings.h"
#include "dialects/Train/Train.h"
#include "lib/Codegen/Cpu/CpuLimits.h"
#include "lib/Codegen/Cpu/CpuMachine.h"
#include "lib/Codegen/Cpu/Generators.h"
#include "lib/Codegen/Cpu/Levels.h"
#include "lib/Codegen/Cpu/Objects.h"
#include "lib/Codegen/KernelClasses.h"
#include "lib/Codegen/KernelDialects.h"
#include "lib/Codegen/LibraryCalls.h"
#include "lib/Plan/SchemaEnums.h"
#include "plan/facts/work.h"
#include "plan/schema/cpu_workspace.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static constexpr RowsTuning kRows{.blockBytes = kCpuLimits.blockBytes, .partialThreads = 64};

namespace {

class CpuTarget : public Target {
public:
  CpuTarget(Fp32Products products, LibraryCalls libraryCalls, StringRef levels)
      : products_(products), libraryCalls_(libraryCalls), levels_(levels) {}

  StringRef name() const override { return "cpu"; }
  LogicalResult settle(train::ProgramOp program) const override;
  TargetLimits limits() const override { return kCpuLimits; }
  const Cluster &referenceCluster() const override { return referenceCpu(); }
  Machine thisMachine(int64_t ranks) const override { return thisCpu(ranks); }
  LibraryCalls libraryCalls() const override { return libraryCalls_; }
  Work productWork(Type factor) const override {
    return {.worker = Worker::Products, .factor = factorOf(inSchema(factor)), .flops = 1};
  }
  bool addsByKernel(const RankSum &sum) const override { return false; }
  FailureOr<KernelSummary> summarise(Operation *op) const override;
  FailureOr<Symbols> generate(Operation *op, KernelModule &kernels) const override;
  FailureOr<std::vector<Object>> compile(ModuleOp kernels) const override { return compileObjects(kernels); }

private:
  void prepare(ModuleOp kernels) const override;
  LogicalResult reportNoLevel(train::ProgramOp program) const;

  KernelSummary summarise(nn::KernelOp op) const { return summariseRows(op, kRows); }
  KernelSummary summarise(StridedCopyOpInterface op) const { return summariseCopy(op); }
  KernelSummary summarise(nn::ScatterAddOp op) const { return summariseScatter(op); }
  FailureOr<KernelSummary> summarise(GemmOpInterface op) const;
  KernelSummary summarise(nn::AttentionOp op) const;
  KernelSummary summarise(nn::AttentionGradOp op) const;
  static FailureOr<KernelSummary> summarise(dist::RankSumOp op) {
    return op.emitOpError("is for GPUs: on CPUs the communication engine sums");
  }

  static Symbols generate(nn::KernelOp op, KernelModule &kernels) { return generateRows(op, kRows, kernels); }
  static Symbols generate(StridedCopyOpInterface op, KernelModule &kernels) {
    return generateCopy(op, kernels);
  }
  static Symbols generate(nn::ScatterAddOp op, KernelModule &kernels) { return generateScatter(op, kernels); }
  static Symbols generate(GemmOpInterface op, KernelModule &kernels) { return generateGemm(op, kernels); }
  static Symbols generate(nn::AttentionOp op, KernelModule &kernels) {
    return generateAttention(op, kernels);
  }
  static Symbols generate(nn::AttentionGradOp op, KernelModule &kernels) {
    return generateAttentionGrad(op, kernels);
  }
  static Symbols generate(dist::RankSumOp, KernelModule &) {
    llvm_unreachable("an op that summarise() refuses");
  }

  Fp32Products products_;
  LibraryCalls libraryCalls_;
  std::string levels_;
};

} // namespace

/// Reports that the words select no level that the program's products have code for.
LogicalResult CpuTarget::reportNoLevel(train::ProgramOp program) const {
  const Level &least = allLevels(products_).front();
  auto error = program.emitError("cpu ") << levels_ << ": ";
  const StringRef name = products_ == Fp32Products::Bf16x3 ? "bf16x3" : "fma";
  if (levels_ != "native")
    return error << "fp32_products " << name << " has code for " << least.name
                 << " alone; choose that, or fma";
  const auto missing = missingFeatures(least.name, {least.features.begin(), least.features.end()});
  return error << "the CPU of this machine cannot run fp32_products " << name
               << " (missing: " << llvm::join(missing, ", ")
               << "); name the levels of the CPU that the plan is for";
}

/// Whether the program may have products of bf16 numbers: it computes in bf16, or its model converts to bf16.
static bool mayHaveBf16Products(train::ProgramOp program) {
  const train::PrecisionSettings precision = train::precisionOf(program);
  if (precision.compute.isBF16() || precision.eval.isBF16())
    return true;
  const WalkResult found = program->getParentOfType<ModuleOp>().walk([](Operation *op) {
    return llvm::any_of(op->getResultTypes(), [](Type type) { return getElementTypeOrSelf(type).isBF16(); })
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return found.wasInterrupted();
}

LogicalResult CpuTarget::settle(train::ProgramOp program) const {
  if (products_ == Fp32Products::Tf32)
    return program.emitError(
        "fp32_products (--fp32-products) tf32 is for tensor cores of GPUs, which round "
        "numbers to 11 significant bits; target cpu has no such products: choose fma, or bf16x3 for "
        "CPUs with AMX");
  if (train::kProductType.given(program) == train::ProductType::fp8)
    return program.emitError("product_type (--product-type) fp8 is for GPUs of compute capability 8.9 and "
                             "higher; target cpu has no such products: choose bf16, or target cuda");
  if (train::kGpu.isSet(program))
    return program.emitError(
        "gpu (--gpu) names a GPU, which target cpu makes no plans for; leave it out, or choose target cuda");
  if (train::kGpuLevels.isSet(program))
    return program.emitError("gpu_levels (--gpu-levels) chooses levels of GPUs, which target cpu has no code "
                             "for; leave it out, or choose target cuda");
  if (train::kReserveMemory.isSet(program))
    return program.emitError(
        "reserve_memory (--reserve-memory) is for GPUs; with target cpu the compiler knows the "
        "process's memory besides the plan (memory.unplanned of the report); leave it out");
  if (train::kHostMemory.isSet(program))
    return program.emitError(
        "host_memory (--host-memory) is for GPUs; with target cpu the host is the device, "
        "and memory_limit (--memory-limit) bounds its memory; leave it out");
  if (levels_ == "all")
    return success();
  std::vector<Level> levels = chooseLevels(products_, levels_);
  if (levels.empty())
    return reportNoLevel(program);
  if (!mayHaveBf16Products(program))
    levels = withBases(products_, levels);
  train::setValue(program, train::kCpu,
                  llvm::join(llvm::map_range(levels, [](const Level &level) { return level.name; }), ","));
  return success();
}

/// On a CPU, library calls are simple reference code (runtime/device/cpu).
FailureOr<KernelSummary> CpuTarget::summarise(GemmOpInterface op) const {
  const GemmShape gemm = op.getGemmShape();
  if (libraryCalls_.products && canBeLibraryProduct(op))
    return libraryProduct(op, int64_t(cpuProductWorkspace(gemm.transposeB, gemm.n, gemm.k)));
  if (!op.getGemmEpilogue().isEmpty())
    return op.emitOpError(
        "has an epilogue, which generated products do not; compile with --library-calls=products");
  return summariseGemm(op, products_);
}

KernelSummary CpuTarget::summarise(nn::AttentionOp op) const {
  return libraryCalls_.attention && isLibraryAttention(op) ? libraryAttention(op, /*workspaceBytes=*/0)
                                                           : summariseAttention(op);
}

KernelSummary CpuTarget::summarise(nn::AttentionGradOp op) const {
  ArrayRef<int64_t> lse = cast<RankedTensorType>(op.getLse().getType()).getShape();
  return libraryCalls_.attentionGradients && isLibraryAttention(op)
             ? libraryAttention(op, int64_t(cpuAttentionWorkspace(/*backward=*/true, lse[0], lse[1], lse[2])))
             : summariseAttentionGrad(op);
}

FailureOr<KernelSummary> CpuTarget::summarise(Operation *op) const {
  auto holdsFp8 = [](Value each) { return nn::isFp8(getElementTypeOrSelf(each)); };
  if (llvm::any_of(op->getOperands(), holdsFp8) || llvm::any_of(op->getResults(), holdsFp8))
    return op->emitOpError("has numbers of fp8, which GPUs compute with; compile with --target=cuda");
  return visitKernelClass<FailureOr<KernelSummary>>(op, [&](auto each) { return summarise(each); });
}

FailureOr<Symbols> CpuTarget::generate(Operation *op, KernelModule &kernels) const {
  return visitKernelClass<Symbols>(op, [&](auto each) { return generate(each, kernels); });
}

void CpuTarget::prepare(ModuleOp kernels) const {
  kernels.getContext()
      ->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                    math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  noteProgram(kernels, products_, levels_);
}

std::unique_ptr<Target> trainc::codegen::createCpuTarget(Fp32Products products, LibraryCalls libraryCalls,
                                                         StringRef levels) {
  return std::make_unique<CpuTarget>(products, libraryCalls, levels);
}
