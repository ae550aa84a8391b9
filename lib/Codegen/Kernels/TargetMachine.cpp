#include "lib/Codegen/Kernels/TargetMachine.h"

#include "llvm/MC/TargetRegistry.h"

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
trainc::codegen::createMachine(const Processor &processor) {
  const llvm::Triple triple(processor.triple);
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return llvm::createStringError(std::string("LLVM was built without ") + processor.backend + ": " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, processor.name, processor.features, options, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}
