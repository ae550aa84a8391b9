// trainc-lsp: a language server for model files and the compiler's IR: errors as you type, hover,
// definitions.
#include "lib/Pipelines/Pipeline.h"
#include "tools/common/llvm_options.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  trainc::hideLibraryOptions();
  mlir::DialectRegistry registry;
  trainc::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
