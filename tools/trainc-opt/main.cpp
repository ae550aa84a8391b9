// trainc-opt: reads a module, runs the passes named on the command line, prints the module. For tests and for
// looking.
#include "dialects/NN/NN.h"
#include "dialects/Train/Train.h"
#include "lib/Autodiff/Passes.h"
#include "lib/Codegen/Passes.h"
#include "lib/Fusion/Passes.h"
#include "lib/Instantiate/Passes.h"
#include "lib/Optimizer/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                  trainc::nn::NNDialect, trainc::plan::PlanDialect, trainc::train::TrainDialect>();
  mlir::registerTransformsPasses();
  trainc::registerAutodiffPasses();
  trainc::registerInstantiatePasses();
  trainc::registerOptimizerPasses();
  trainc::registerTraincFusionPasses();
  trainc::registerTraincCodegenPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "trainc optimizer driver\n", registry));
}
