// The target of NVIDIA GPUs: dispatch of ops to generators, and to cuBLASLt and cuDNN.
#include "lib/Codegen/Cuda/CudaTarget.h"

#include "dialects/NN/Builders.h"
#include "dialects/Train/Precision.h"
#include "dialects/Train/ProgramSettings.h"
#include "dialects/Train/Sharding.h"
#include "dialects/Train/Train.h"
#include "lib/Analysis/HostOps.h"
#include "lib/Codegen/Cpu/CpuTarget.h"
#include "lib/Codegen/Cuda/CudaMachine.h"
#include "lib/Codegen/Cuda/Generators.h"
#include "lib/Codegen/Cuda/GpuLevels.h"
#include "lib/Codegen/Cuda/Ptx.h"
#include "lib/Codegen/KernelClasses.h"
#include "lib/Codegen/KernelDialects.h"
#include "lib/Codegen/Kernels/AttentionShape.h"
#include "lib/Codegen/Kernels/RowCopy.h"
#include "lib/Codegen/LibraryCalls.h"
#include "lib/Codegen/Targets/ProgramChoices.h"
#include "lib/Codegen/Targets/TargetFactory.h"
#include "lib/Plan/SchemaEnums.h"
#include "plan/facts/work.h"
#include "plan/schema/cudnn_attention.h"
#include "plan/schema/gpu_memory.h"
#include "plan/schema/row_padding.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// NVIDIA's libraries need workspaces aligned to 256 bytes. The limit of a block's memory allows several
/// blocks per multiprocessor.
static constexpr TargetLimits kGpuLimits{.bufferAlignment = 256, .longestRow = 65536, .blockBytes = 32 << 10};
static_assert(kGpuLimits.longestRow <= ThreadTree::kWhole, "rows that fusion makes are reduced at once");
static_assert(kAccessBytes <= int64_t(kMaxRowPadding + 1), "what pads rows belongs to them");
/// One access per thread and tile, so that few rows still occupy many blocks.
static constexpr RowCopyTuning kRowCopy{.threads = 128, .accessBytes = kAccessBytes, .accesses = 1};
/// Column sums use as many threads as saturate an H100's memory bandwidth (CudaMachine.cpp).
static constexpr RowsTuning kRowsTuning{
    .blockBytes = kGpuLimits.blockBytes, .partialThreads = 65536, .threads = 512};

/// Workspace that cuBLASLt needs to split long sums of products among blocks (cuBLAS 13.0,
/// cublasLtMatmulPreference).
static constexpr int64_t kProductWorkspace = 32 << 20;

/// Maximum workspace of a cuDNN op. A deterministic gradient needs two bytes for each pair of query and key,
/// which would fill a GPU's memory for long sequences; a generated kernel needs none.
static constexpr uint64_t kMaxAttentionWorkspace = uint64_t{4} << 30;

namespace {

class CudaTarget : public Target {
public:
  explicit CudaTarget(CudaChoices choices) : choices_(std::move(choices)) {}

  StringRef name() const override { return "cuda"; }
  LogicalResult resolveSettings(train::ProgramOp program) const override;
  TargetLimits limits() const override { return kGpuLimits; }
  const Target *host() const override { return host_.get(); }
  const Cluster &referenceCluster() const override { return gpuCluster(choices_.gpu); }
  Machine thisMachine(int64_t ranks) const override { return referenceMachine(ranks); }
  LibraryCalls libraryCalls() const override { return choices_.libraryCalls; }
  Work productWork(Type factor) const override;
  bool addsByKernel(const RankSum &sum) const override;
  int64_t rowAlignment() const override { return kAccessBytes; }
  bool takesPadding(Operation *op, Value value) const override;
  FailureOr<KernelSummary> summarise(Operation *op) const override;
  FailureOr<Symbols> generate(Operation *op, KernelModule &kernels) const override;
  FailureOr<std::vector<Object>> compile(ModuleOp kernels) const override {
    return compileForGpus(kernels, chooseGpuLevels(choices_.levels));
  }

private:
  LogicalResult checkCollectives(train::ProgramOp program) const;
  void prepare(ModuleOp kernels) const override;

  KernelSummary summarise(nn::KernelOp op) const { return summariseRows(op, kRowsTuning); }
  KernelSummary summarise(StridedCopyOpInterface op) const { return cuda::summariseCopy(op); }
  KernelSummary summarise(nn::ScatterAddOp op) const { return cuda::summariseScatter(op); }
  KernelSummary summarise(nn::ScatterOp op) const { return summariseRowCopy(op, kRowCopy); }
  FailureOr<KernelSummary> summarise(GemmOpInterface op) const;
  FailureOr<KernelSummary> summarise(nn::AttentionOp op) const;
  FailureOr<KernelSummary> summarise(nn::AttentionGradOp op) const;
  KernelSummary summarise(dist::RankSumOp op) const { return cuda::summariseRankSum(op); }

  static Symbols generate(nn::KernelOp op, KernelModule &kernels) {
    return generateRows(op, kRowsTuning, kernels);
  }
  static Symbols generate(StridedCopyOpInterface op, KernelModule &kernels) {
    return cuda::generateCopy(op, kernels);
  }
  static Symbols generate(nn::ScatterAddOp op, KernelModule &kernels) {
    return cuda::generateScatter(op, kernels);
  }
  static Symbols generate(nn::ScatterOp op, KernelModule &kernels) {
    return generateRowCopy(op, kRowCopy, kernels);
  }
  static Symbols generate(GemmOpInterface op, KernelModule &kernels) {
    return cuda::generateGemm(op, kernels);
  }
  static FailureOr<Symbols> generate(nn::AttentionOp op, KernelModule &kernels) {
    return cuda::generateAttention(op, kernels);
  }
  static FailureOr<Symbols> generate(nn::AttentionGradOp op, KernelModule &kernels) {
    return cuda::generateAttentionGrad(op, kernels);
  }
  static Symbols generate(dist::RankSumOp op, KernelModule &kernels) {
    return cuda::generateRankSum(op, kernels);
  }

  CudaChoices choices_;
  std::unique_ptr<Target> host_ = createCpuTarget();
};

} // namespace

LogicalResult CudaTarget::resolveSettings(train::ProgramOp program) const {
  if (choices_.products == Fp32Products::Bf16x3)
    return program.emitError(
        "fp32_products (--fp32-products) bf16x3 is for CPUs with AMX; for target cuda choose "
        "fma, or tf32, which rounds numbers to 11 significant bits");
  const bool multipliesFp8 = train::kProductType.given(program) == train::ProductType::fp8;
  if (multipliesFp8 && !choices_.libraryCalls.products)
    return program.emitError("product_type (--product-type) fp8 is left to cuBLASLt: leave library_calls "
                             "(--library-calls) out, or choose plain, products or all");
  if (multipliesFp8 && !codegen::multipliesFp8(choices_.gpu))
    return program.emitError(
               "product_type (--product-type) fp8 needs a GPU of compute capability 8.9 or higher, and gpu "
               "(--gpu) is ")
           << choices_.gpu << "; choose bf16, or name another GPU";
  if (train::kGpu.isSet(program) && choices_.libraryCalls.attentionGradients &&
      !repeatsAttentionGradients(choices_.gpu))
    return program.emitError("library_calls (--library-calls) ")
           << StringRef(train::kLibraryCalls.textIn(program).value_or(""))
           << " leaves attention's gradient to cuDNN, which repeats its bits on compute capability 9 and 10 "
              "alone, and gpu (--gpu) is "
           << choices_.gpu << "; leave library_calls out, choose plain or products, or name another GPU";
  if (train::kCpu.isSet(program))
    return program.emitError(
        "cpu (--cpu) chooses levels of CPUs, and target cuda makes code for GPUs; leave it out, or choose "
        "levels of GPUs (--gpu-levels)");
  if (failed(resolveGpuLevels(program)))
    return failure();
  if (!train::kReserveMemory.isSet(program))
    train::setDerived(program, train::kReserveMemory, Twine(gpuReserve(train::kRanks.of(program) > 1)),
                      "target and ranks");
  if (const uint64_t bytes = referenceMachine().hostMemoryBytes;
      bytes > 0 && !train::kHostMemory.isSet(program))
    train::setDerived(program, train::kHostMemory, Twine(bytes), "gpu");
  return checkCollectives(program);
}

/// Products that cuBLASLt does not execute do not use tensor cores.
Work CudaTarget::productWork(Type factor) const {
  return {.worker = choices_.libraryCalls.products ? Worker::Products : Worker::Arithmetic,
          .factor = factor.isF32() && choices_.products == Fp32Products::Tf32 ? Factor::Tf32
                                                                              : factorOf(inSchema(factor)),
          .flops = 1};
}

/// NCCL sums two values in the order of the tree, and rounds sums to the operands' type.
bool CudaTarget::addsByKernel(const RankSum &sum) const {
  return sum.into != sum.element || (choices_.reproducibleOverRanks && sum.places > 2);
}

bool CudaTarget::takesPadding(Operation *op, Value value) const {
  if (runsOnHost(op))
    return false;
  if (auto kernel = dyn_cast<nn::KernelOp>(op))
    return rowsTakePadding(kernel, value);
  auto product = dyn_cast<GemmOpInterface>(op);
  return product && choices_.libraryCalls.products && canBeLibraryProduct(product, /*takesShort=*/true) &&
         libraryProductTakesPadding(product, value);
}

LogicalResult CudaTarget::checkCollectives(train::ProgramOp program) const {
  const train::ShardingSettings sharding = train::shardingOf(program);
  if (sharding.reproducibleOverRanks && train::kRanks.of(program) > cuda::kMaxRankSumRanks)
    return program.emitError("reproducible (--reproducible) ranks sums over at most ")
           << cuda::kMaxRankSumRanks << " ranks for target cuda, and there are " << train::kRanks.of(program)
           << "; leave it out: the same ranks repeat their bits";
  const bool hasGroups = sharding.shardRanks > 1 && sharding.shardRanks < train::kRanks.of(program);
  if (hasGroups && sharding.shardRanks > cuda::kMaxRankSumRanks &&
      !train::precisionOf(program).reduce.isF32())
    return program.emitError("hybrid_shard (--hybrid-shard) sums gradients below f32 (reduce_type, "
                             "--reduce-type) over groups of at most ")
           << cuda::kMaxRankSumRanks << " ranks for target cuda, found " << sharding.shardRanks
           << "; sum them in f32, or make the groups smaller";
  return success();
}

FailureOr<KernelSummary> CudaTarget::summarise(GemmOpInterface op) const {
  if (choices_.libraryCalls.products && canBeLibraryProduct(op, /*takesShort=*/true))
    return libraryProduct(op, kProductWorkspace, choices_.products == Fp32Products::Tf32);
  if (op.getGemmScales())
    return op.emitOpError(
        "has factors of fp8, which cuBLASLt alone multiplies; compile with --library-calls=products");
  return cuda::summariseGemm(op);
}

/// Returns the cuDNN sizes of attention or its gradient.
template <typename Op> static CudnnAttentionSizes cudnnSizesOf(Op op) {
  const AttentionShape shape(op);
  return {.batch = uint64_t(shape.batch),
          .queries = uint64_t(shape.queries),
          .keys = uint64_t(shape.keys),
          .heads = uint64_t(shape.heads),
          .keyHeads = uint64_t(shape.keyHeads),
          .headSize = uint64_t(shape.depth),
          .valueSize = uint64_t(shape.valueWidth),
          .isCausal = op.getCausal(),
          .isShort = nn::isLowPrecision(shape.element),
          .hasSegments = bool(op.getSegments())};
}

FailureOr<KernelSummary> CudaTarget::summarise(nn::AttentionOp op) const {
  CudnnAttentionSizes sizes = cudnnSizesOf(op);
  sizes.hasLimit = bool(op.getLimit());
  if (choices_.libraryCalls.attention && canBeLibraryAttention(op, /*takesShort=*/true) &&
      isCudnnAttention(sizes))
    return libraryAttention(op, int64_t(cudnnAttentionWorkspace(sizes)));
  return cuda::summariseAttention(op);
}

FailureOr<KernelSummary> CudaTarget::summarise(nn::AttentionGradOp op) const {
  CudnnAttentionSizes sizes = cudnnSizesOf(op);
  sizes.isBackward = true;
  if (!choices_.libraryCalls.attentionGradients || !canBeLibraryAttention(op, /*takesShort=*/true) ||
      !isCudnnAttention(sizes))
    return cuda::summariseAttentionGrad(op);
  const uint64_t workspace = cudnnAttentionWorkspace(sizes);
  if (workspace <= kMaxAttentionWorkspace)
    return libraryAttention(op, int64_t(workspace));
  op.emitWarning("cuDNN's gradient of attention may use at most ")
      << kMaxAttentionWorkspace << " bytes of workspace, found " << workspace
      << "; a kernel of the plan computes it instead: to use cuDNN's, make the micro-batch or the sequences "
         "smaller; to choose the kernel, compile with --library-calls=products";
  return cuda::summariseAttentionGrad(op);
}

FailureOr<KernelSummary> CudaTarget::summarise(Operation *op) const {
  return visitKernelClass<FailureOr<KernelSummary>>(op, [&](auto each) { return summarise(each); });
}

FailureOr<Symbols> CudaTarget::generate(Operation *op, KernelModule &kernels) const {
  return visitKernelClass<FailureOr<Symbols>>(op, [&](auto each) { return generate(each, kernels); });
}

void CudaTarget::prepare(ModuleOp kernels) const {
  kernels.getContext()
      ->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                    NVVM::NVVMDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  if (choices_.gpu != kDefaultGpu)
    kernels->setAttr(kGpuAttr, StringAttr::get(kernels.getContext(), choices_.gpu));
  if (choices_.levels != kAllGpuLevels)
    kernels->setAttr(kGpuLevelsAttr, StringAttr::get(kernels.getContext(), choices_.levels));
}

std::unique_ptr<Target> trainc::codegen::createCudaTarget(CudaChoices choices) {
  return std::make_unique<CudaTarget>(std::move(choices));
}

/// Returns the ops that libraries execute. cuDNN's gradients of attention are deterministic on some GPUs
/// only. Plans use them if they are requested, or if the program names such a GPU. A plan without a named GPU
/// runs on all of them.
static LibraryCalls cudaLibraryCallsOf(train::ProgramOp program) {
  LibraryCalls calls = libraryCallsOf(program);
  if (!train::kLibraryCalls.isSet(program)) {
    calls.products = calls.attention = true;
    calls.attentionGradients =
        train::kGpu.isSet(program) && repeatsAttentionGradients(train::kGpu.of(program));
  }
  calls.exactGelu = false;
  calls.auxiliaryRow = 8;
  return calls;
}

static std::unique_ptr<Target> forProgram(train::ProgramOp program) {
  return createCudaTarget({.products = fp32ProductsOf(program),
                           .libraryCalls = cudaLibraryCallsOf(program),
                           .gpu = StringRef(train::kGpu.given(program).value_or(kDefaultGpu)).str(),
                           .levels = std::string(train::kGpuLevels.of(program)),
                           .reproducibleOverRanks = train::shardingOf(program).reproducibleOverRanks});
}

/// Returns a word of the program that is recorded on the module of kernels.
static std::string wordOf(ModuleOp kernels, StringRef attribute, StringRef otherwise) {
  auto word = kernels->getAttrOfType<StringAttr>(attribute);
  return word ? word.str() : otherwise.str();
}

static std::unique_ptr<Target> forKernels(ModuleOp kernels) {
  return createCudaTarget({.products = Fp32Products::Fma,
                           .libraryCalls = {},
                           .gpu = wordOf(kernels, kGpuAttr, kDefaultGpu),
                           .levels = wordOf(kernels, kGpuLevelsAttr, kAllGpuLevels)});
}

const TargetFactory trainc::codegen::cudaTarget = {forProgram, forKernels};
