// trainc-opt: reads a module, runs the passes named on the command line, prints the module. For tests and for
// looking.
#include "lib/Pipelines/Pipeline.h"
#include "tools/common/llvm_options.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  trainc::hideLibraryOptions();
  mlir::DialectRegistry registry;
  trainc::registerDialects(registry);
  trainc::registerPasses();
  int code = mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "trainc optimizer driver\n", registry));
  llvm::outs().flush();
  if (std::error_code error = llvm::outs().error()) {
    llvm::outs().clear_error(); // an error that nobody clears ends the program
    llvm::errs() << "error: cannot write to standard output: " << error.message() << "\n";
    return 1;
  }
  return code;
}
