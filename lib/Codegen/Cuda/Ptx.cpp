// Compilation of the LLVM dialect to PTX.
#include "lib/Codegen/Cuda/Ptx.h"

#include "lib/Codegen/Cuda/Fp8Conversions.h"
#include "lib/Codegen/Cuda/Ptxas.h"
#include "lib/Codegen/Kernels/CodeCache.h"
#include "lib/Codegen/Kernels/KernelFunction.h"
#include "lib/Codegen/Kernels/Lowering.h"
#include "lib/Codegen/Kernels/TargetMachine.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace trainc::codegen;

namespace {

/// The lowest supported GPU, and a PTX version with all features that its code uses.
struct MinGpu {
  const char *processor, *features, *level;
};

} // namespace

static constexpr MinGpu kAnyGpu{"sm_80", "+ptx80", "compute_80"}, kFp8Gpu{"sm_89", "+ptx81", "compute_89"};

static const MinGpu &minGpuOf(ModuleOp kernels) { return convertsFp8(kernels) ? kFp8Gpu : kAnyGpu; }

static void initialiseTarget() {
  static const bool initialised = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialised;
}

/// Infers global and shared address spaces behind generic pointers, unrolls loops, and inlines functions that
/// kernels share. No pass reorders sums.
static void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

/// The number of threads bounds the registers per thread, and so does the number of blocks. Loops depend on
/// the number of threads, so that the driver rejects any other number.
static void markEntries(ModuleOp kernels) {
  Builder builder(kernels.getContext());
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>()) {
    if (auto threads = dyn_cast_or_null<IntegerAttr>(function->removeAttr(kThreadsAttr))) {
      function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
      function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                        builder.getDenseI32ArrayAttr({int32_t(threads.getInt())}));
    }
    if (Attribute blocks = function->removeAttr(kMinBlocksAttr))
      function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), blocks);
  }
}

static llvm::Expected<std::string> emitPtx(llvm::StringRef bitcode, const MinGpu &gpu) {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "kernels"), context);
  if (!module)
    return module.takeError();
  initialiseTarget();
  auto machine = createMachine(
      {.backend = "NVPTX", .triple = "nvptx64-nvidia-cuda", .name = gpu.processor, .features = gpu.features});
  if (!machine)
    return machine.takeError();
  (*module)->setTargetTriple((*machine)->getTargetTriple());
  (*module)->setDataLayout((*machine)->createDataLayout());
  for (llvm::Function &function : **module)
    function.addFnAttr(llvm::Attribute::NoUnwind);
  optimise(**module, **machine);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("LLVM cannot emit PTX");
  passes.run(**module);
  return text.str().str();
}

static LogicalResult reportCodeError(ModuleOp kernels, llvm::Error error) {
  return kernels.emitError() << "code generation: " << llvm::toString(std::move(error));
}

llvm::FailureOr<std::string> trainc::codegen::compileToPtx(ModuleOp kernels) {
  const MinGpu &gpu = minGpuOf(kernels);
  expandFp8Conversions(kernels);
  if (failed(lowerToLLVMDialect(kernels)))
    return failure();
  markEntries(kernels);
  llvm::Expected<std::string> bitcode = translateToBitcode(kernels);
  if (!bitcode)
    return reportCodeError(kernels, bitcode.takeError());
  llvm::Expected<std::string> ptx = cachedCode((llvm::Twine(gpu.processor) + gpu.features + *bitcode).str(),
                                               [&] { return emitPtx(*bitcode, gpu); });
  if (!ptx)
    return reportCodeError(kernels, ptx.takeError());
  return std::move(*ptx);
}

/// Returns those of `levels` whose GPUs can run the code.
static std::vector<llvm::StringRef> levelsFrom(const MinGpu &gpu, llvm::ArrayRef<llvm::StringRef> levels) {
  auto numberOf = [](llvm::StringRef name) {
    unsigned number = 0;
    name.drop_front(llvm::StringLiteral("sm_").size()).getAsInteger(10, number);
    return number;
  };
  std::vector<llvm::StringRef> able;
  llvm::copy_if(levels, std::back_inserter(able),
                [&](llvm::StringRef level) { return numberOf(level) >= numberOf(gpu.processor); });
  return able;
}

llvm::FailureOr<std::vector<Object>> trainc::codegen::compileForGpus(ModuleOp kernels,
                                                                     llvm::ArrayRef<llvm::StringRef> levels) {
  const MinGpu &gpu = minGpuOf(kernels);
  llvm::FailureOr<std::string> ptx = compileToPtx(kernels);
  if (failed(ptx))
    return failure();
  llvm::Expected<std::vector<Object>> objects =
      assemble(*ptx, levelsFrom(gpu, levels),
               [&](llvm::StringRef ptxas, llvm::StringRef level) {
                 kernels.emitWarning()
                     << ptxas << " does not know " << level
                     << ", so the plan has no machine code for it; drivers make it of the plan's PTX "
                        "when a run starts. A newer CUDA toolkit knows it";
               });
  if (!objects)
    return reportCodeError(kernels, objects.takeError());
  ptx->push_back('\0'); // the driver takes a C string
  objects->push_back({gpu.level, {}, std::move(*ptx)});
  return std::move(*objects);
}
