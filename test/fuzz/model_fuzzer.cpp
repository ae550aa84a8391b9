// Model text: whatever is in a file, the parser and `instantiate` either reject it with a diagnostic or make
// entries that verify.
#include "dialects/NN/NN.h"
#include "dialects/Train/Train.h"
#include "lib/Instantiate/Passes.h"
#include "tools/language/parse_model.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::DialectRegistry registry;
  registry.insert<trainc::nn::NNDialect, trainc::train::TrainDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  bool complained = false;
  mlir::ScopedDiagnosticHandler silence(&context, [&](mlir::Diagnostic &diagnostic) {
    complained |= diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    return mlir::success();
  });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy({reinterpret_cast<const char *>(data), size}, "model.mlir"),
      llvm::SMLoc());
  auto module = trainc::parseModel(sources, context, trainc::Imports::Refuse);
  bool accepted = bool(module);
  if (accepted) {
    mlir::PassManager manager(&context, mlir::ModuleOp::getOperationName());
    manager.addPass(trainc::createInstantiatePass());
    accepted = mlir::succeeded(manager.run(*module));
  }
  // An error without a reason, or entries that do not verify, are bugs.
  if (!accepted && !complained)
    std::abort();
  if (accepted && mlir::failed(mlir::verify(*module)))
    std::abort();
  return 0;
}
