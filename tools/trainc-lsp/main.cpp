// trainc-lsp: a language server for model files and the compiler's IR: errors as you type, hover,
// definitions.
#include "lib/Pipelines/Pipeline.h"
#include "tools/common/llvm_tools.h"
#include "tools/trainc-lsp/model_check.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/thread.h"

/// The parser recurses, and one text among many must not end the server: room for some 100,000 levels.
constexpr std::optional<unsigned> kStackBytes = 1U << 30;

int main(int argc, char **argv) {
  trainc::hideLibraryOptions();
  mlir::DialectRegistry registry;
  trainc::registerDialects(registry);
  trainc::registerModelCheck(registry);
  bool failed = false;
  llvm::thread server(kStackBytes,
                      [&] { failed = mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)); });
  server.join();
  return failed;
}
