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
#include "lib/Codegen/Kernels/RowCopy.h"
#include "lib/Codegen/LibraryCalls.h"
#include "lib/Codegen/Targets/ProgramChoices.h"
#include "lib/Codegen/Targets/TargetFactory.h"
#include "lib/Plan/SchemaEnums.h"
#include "plan/facts/work.h"
#include "plan/schema/cpu_workspace.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static constexpr RowsTuning kRows{.blockBytes = kCpuLimits.blockBytes, .partialThreads = 64};
static constexpr RowCopyTuning kRowCopy{.threads = 1, .accessBytes = 64, .accesses = 512};

TargetLimits CpuTarget::limits() const { return kCpuLimits; }

const Cluster &CpuTarget::referenceCluster() const { return referenceCpu(); }

Machine CpuTarget::thisMachine(int64_t ranks) const { return thisCpu(ranks); }

Work CpuTarget::productWork(Type factor) const {
  return {.worker = Worker::Products, .factor = factorOf(inSchema(factor)), .flops = 1};
}

FailureOr<std::vector<Object>> CpuTarget::compile(ModuleOp kernels) const { return compileObjects(kernels); }

/// Reports that the words select no level that the program's products have code for.
LogicalResult CpuTarget::reportNoLevel(train::ProgramOp program) const {
  const Level &minimum = allLevels(products_).front();
  auto error = program.emitError("cpu ") << levels_ << ": ";
  const StringRef name = products_ == Fp32Products::Bf16x3 ? "bf16x3" : "fma";
  if (levels_ != "native")
    return error << "fp32_products " << name << " has code for " << minimum.name
                 << " alone; choose that, or fma";
  const auto missing = missingFeatures(minimum.name, {minimum.features.begin(), minimum.features.end()});
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

LogicalResult CpuTarget::resolveSettings(train::ProgramOp program) const {
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

namespace {

/// Summaries of kernel classes. On a CPU, library calls are simple reference code (runtime/device/cpu).
struct Summariser {
  Fp32Products products;
  LibraryCalls libraryCalls;

  FailureOr<KernelSummary> operator()(nn::KernelOp op) const { return summariseRows(op, kRows); }
  FailureOr<KernelSummary> operator()(StridedCopyOpInterface op) const { return summariseCopy(op); }
  FailureOr<KernelSummary> operator()(nn::ScatterAddOp op) const { return summariseScatter(op); }
  FailureOr<KernelSummary> operator()(nn::ScatterOp op) const { return summariseRowCopy(op, kRowCopy); }
  FailureOr<KernelSummary> operator()(GemmOpInterface op) const {
    const GemmShape gemm = op.getGemmShape();
    if (libraryCalls.products && canBeLibraryProduct(op))
      return libraryProduct(op, int64_t(cpuProductWorkspace(gemm.transposeB, gemm.n, gemm.k)));
    if (!op.getGemmEpilogue().isEmpty())
      return op.emitOpError(
          "has an epilogue, which generated products do not; compile with --library-calls=products");
    return summariseGemm(op, products);
  }
  FailureOr<KernelSummary> operator()(nn::AttentionOp op) const {
    return libraryCalls.attention && canBeLibraryAttention(op) ? libraryAttention(op, /*workspaceBytes=*/0)
                                                               : summariseAttention(op);
  }
  FailureOr<KernelSummary> operator()(nn::AttentionGradOp op) const {
    ArrayRef<int64_t> lse = cast<RankedTensorType>(op.getLse().getType()).getShape();
    return libraryCalls.attentionGradients && canBeLibraryAttention(op)
               ? libraryAttention(op,
                                  int64_t(cpuAttentionWorkspace(/*backward=*/true, lse[0], lse[1], lse[2])))
               : summariseAttentionGrad(op);
  }
  FailureOr<KernelSummary> operator()(dist::RankSumOp op) const {
    return op.emitOpError("is for GPUs: on CPUs the communication engine sums");
  }
};

/// Code of kernel classes.
struct Generator {
  KernelModule &kernels;

  Symbols operator()(nn::KernelOp op) const { return generateRows(op, kRows, kernels); }
  Symbols operator()(StridedCopyOpInterface op) const { return generateCopy(op, kernels); }
  Symbols operator()(nn::ScatterAddOp op) const { return generateScatter(op, kernels); }
  Symbols operator()(nn::ScatterOp op) const { return generateRowCopy(op, kRowCopy, kernels); }
  Symbols operator()(GemmOpInterface op) const { return generateGemm(op, kernels); }
  Symbols operator()(nn::AttentionOp op) const { return generateAttention(op, kernels); }
  Symbols operator()(nn::AttentionGradOp op) const { return generateAttentionGrad(op, kernels); }
  Symbols operator()(dist::RankSumOp) const { llvm_unreachable("an op that summarise() refuses"); }
};

} // namespace

FailureOr<KernelSummary> CpuTarget::summarise(Operation *op) const {
  auto holdsFp8 = [](Value each) { return nn::isFp8(getElementTypeOrSelf(each)); };
  if (llvm::any_of(op->getOperands(), holdsFp8) || llvm::any_of(op->getResults(), holdsFp8))
    return op->emitOpError("has numbers of fp8, which GPUs compute with; compile with --target=cuda");
  return visitKernelClass<FailureOr<KernelSummary>>(op, Summariser{products_, libraryCalls_});
}

FailureOr<Symbols> CpuTarget::generate(Operation *op, KernelModule &kernels) const {
  return visitKernelClass<Symbols>(op, Generator{kernels});
}

void CpuTarget::prepare(ModuleOp kernels) const {
  kernels.getContext()
      ->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                    math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  noteProgram(kernels, products_, levels_);
}

std::unique_ptr<Target> trainc::codegen::createCpuTarget(Fp32Products products) {
  return std::make_unique<CpuTarget>(products, LibraryCalls(), "all");
}

static std::unique_ptr<Target> forProgram(train::ProgramOp program) {
  if (!program)
    return createCpuTarget();
  return std::make_unique<CpuTarget>(fp32ProductsOf(program), libraryCallsOf(program),
                                     train::kCpu.of(program));
}

static std::unique_ptr<Target> forKernels(ModuleOp kernels) { return createCpuTarget(fp32Products(kernels)); }

const TargetFactory trainc::codegen::cpuTarget = {forProgram, forKernels};
