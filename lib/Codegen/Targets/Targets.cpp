// Every target, and the choice among them.
#include "dialects/Train/Settings.h"
#include "dialects/Train/Sharding.h"
#include "lib/Codegen/Cpu/CpuTarget.h"
#include "lib/Codegen/Cpu/Levels.h"
#include "lib/Codegen/Cuda/CudaMachine.h"
#include "lib/Codegen/Cuda/CudaTarget.h"
#include "lib/Codegen/Cuda/GpuLevels.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Returns a word of the program that is recorded on the module of kernels.
static std::string wordOf(ModuleOp kernels, StringRef attribute, StringRef otherwise) {
  auto word = kernels->getAttrOfType<StringAttr>(attribute);
  return word ? word.str() : otherwise.str();
}

std::unique_ptr<Target> Target::of(ModuleOp kernels) {
  auto name = kernels->getAttrOfType<StringAttr>(kTargetAttr);
  assert(name && "a module that createModule() made");
  if (name == "cuda")
    return createCudaTarget({.products = Fp32Products::Fma,
                             .libraryCalls = {},
                             .gpu = wordOf(kernels, kGpuAttr, kDefaultGpu),
                             .levels = wordOf(kernels, kGpuLevelsAttr, kAllGpuLevels)});
  return createCpuTarget(fp32Products(kernels));
}

static LibraryCalls libraryCallsOf(train::ProgramOp program) {
  using enum train::LibraryOps;
  const train::LibraryOps ops = train::kLibraryCalls.given(program).value_or(none);
  const bool gradients = ops == train::LibraryOps::attention || ops == all;
  return {.products = ops == plain || ops == train::LibraryOps::products || ops == all,
          .attention = ops == plain || gradients,
          .attentionGradients = gradients};
}

/// cuDNN's gradients of attention are deterministic on some GPUs only. Plans use them if they are requested,
/// or if the program names such a GPU. A plan without a named GPU runs on all of them.
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

static Fp32Products productsOf(train::ProgramOp program) {
  switch (train::kFp32Products.of(program)) {
  case train::Fp32Arithmetic::fma:
    return Fp32Products::Fma;
  case train::Fp32Arithmetic::bf16x3:
    return Fp32Products::Bf16x3;
  case train::Fp32Arithmetic::tf32:
    return Fp32Products::Tf32;
  }
  llvm_unreachable("unknown arithmetic");
}

std::unique_ptr<Target> Target::chosenFor(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  if (!module)
    return createCpuTarget();
  for (auto program : module.getOps<train::ProgramOp>()) {
    if (train::kTarget.of(program) == train::TargetKind::cuda)
      return createCudaTarget({.products = productsOf(program),
                               .libraryCalls = cudaLibraryCallsOf(program),
                               .gpu = StringRef(train::kGpu.given(program).value_or(kDefaultGpu)).str(),
                               .levels = std::string(train::kGpuLevels.of(program)),
                               .reproducibleOverRanks = train::shardingOf(program).reproducibleOverRanks});
    return createCpuTarget(productsOf(program), libraryCallsOf(program), train::kCpu.of(program));
  }
  return createCpuTarget();
}
