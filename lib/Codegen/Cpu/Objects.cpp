// LLVM dialect -> machine code for every instruction-set level.
#include "lib/Codegen/Cpu/Objects.h"

#include "lib/Codegen/Cpu/CpuTarget.h"
#include "lib/Codegen/Cpu/Levels.h"
#include "lib/Codegen/Cpu/Link.h"
#include "lib/Codegen/Cpu/Lowering.h"
#include "lib/Codegen/Cpu/ShortMasks.h"

#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace trainc::codegen;

namespace {

void initialiseTarget() {
  static const bool done = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)done;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const Level &level) {
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return llvm::createStringError("LLVM was built without X86: " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, level.llvmCpu, level.llvmFeatures, options, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// Of every function with variants keeps that of `level`, or else of its base, under the name by which it is
/// called.
void chooseVariants(llvm::Module &module, const Level &level, const std::vector<Level> &all) {
  llvm::SmallVector<llvm::Function *> declarations;
  for (llvm::Function &function : module)
    if (function.isDeclaration())
      declarations.push_back(&function);
  for (llvm::Function *declared : declarations) {
    llvm::Function *chosen = module.getFunction(variantName(declared->getName(), level.name));
    if (!chosen && level.base)
      chosen = module.getFunction(variantName(declared->getName(), level.base));
    if (!chosen)
      continue;
    for (const Level &other : all)
      if (llvm::Function *variant = module.getFunction(variantName(declared->getName(), other.name));
          variant && variant != chosen)
        variant->eraseFromParent();
    declared->replaceAllUsesWith(chosen);
    declared->eraseFromParent();
    chosen->setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

/// The relocatable object of a module given as bitcode; a context of its own lets levels compile in parallel.
llvm::Expected<std::string> compileLevel(llvm::StringRef bitcode, const Level &level,
                                         const std::vector<Level> &all) {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "kernels"), context);
  if (!module)
    return module.takeError();
  auto machine = createMachine(level);
  if (!machine)
    return machine.takeError();
  (*module)->setTargetTriple((*machine)->getTargetTriple());
  (*module)->setDataLayout((*machine)->createDataLayout());
  chooseVariants(**module, level, all);
  if (!llvm::is_contained(level.features, "avx512bw"))
    expandShortMasks(**module);
  for (llvm::Function &function : **module) {
    function.addFnAttr("target-cpu", level.llvmCpu);
    function.addFnAttr("target-features", level.llvmFeatures);
    function.addFnAttr("prefer-vector-width", "512"); // LLVM would halve the registers of AVX-512 code
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("LLVM cannot emit objects");
  passes.run(**module);
  return object.str().str();
}

llvm::Expected<std::string> translate(ModuleOp kernels) {
  registerBuiltinDialectTranslation(*kernels.getContext());
  registerLLVMDialectTranslation(*kernels.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(kernels, context, "kernels");
  if (!module)
    return llvm::createStringError("the kernels could not be translated to LLVM IR");
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*module, stream);
  return bitcode;
}

} // namespace

FailureOr<std::vector<Object>> trainc::codegen::compileObjects(ModuleOp kernels) {
  auto report = [&](llvm::Error error) -> LogicalResult {
    return kernels.emitError() << "code generation: " << llvm::toString(std::move(error));
  };
  if (failed(lowerToLLVMDialect(kernels)))
    return failure();
  llvm::Expected<std::string> bitcode = translate(kernels);
  if (!bitcode)
    return report(bitcode.takeError());
  initialiseTarget();
  const std::vector<Level> all = levels(kernels);
  std::vector<std::string> compiled(all.size()), errors(all.size());
  auto compile = [&](size_t i) {
    if (llvm::Expected<std::string> object = compileLevel(*bitcode, all[i], all))
      compiled[i] = std::move(*object);
    else
      errors[i] = llvm::toString(object.takeError());
  };
  mlir::parallelFor(kernels.getContext(), 0, all.size(), compile);
  std::vector<Object> objects;
  for (auto [i, level] : llvm::enumerate(all)) {
    if (!errors[i].empty())
      return report(llvm::createStringError(errors[i]));
    llvm::Expected<std::string> image = linkSharedObject(compiled[i]);
    if (!image)
      return report(image.takeError());
    objects.push_back({level.name, level.features, std::move(*image)});
  }
  return objects;
}
