// trainc-opt: reads a module, runs the passes named on the command line, prints the module. For tests and for
// looking.
#include "lib/Pipelines/Pipeline.h"
#include "tools/common/llvm_options.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  trainc::hideLibraryOptions();
  mlir::DialectRegistry registry;
  trainc::registerDialects(registry);
  trainc::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "trainc optimizer driver\n", registry));
}
