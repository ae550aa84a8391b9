// trainc-check: checks every function of a file against independent knowledge; see README.md.
#include "Modes.h"

#include "dialects/NN/NN.h"
#include "dialects/Train/Train.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace trainc;

namespace {

llvm::cl::opt<std::string> inputFile(llvm::cl::Positional, llvm::cl::desc("FILE.mlir"), llvm::cl::Required);
llvm::cl::opt<bool> withExpected("reference",
                                 llvm::cl::desc("compare the reference with values in the file"));
llvm::cl::opt<bool> withGradients("gradients", llvm::cl::desc("compare gradients with finite differences"));
llvm::cl::opt<bool> withDecompose("decompose",
                                  llvm::cl::desc("compare composite ops with their decompositions"));

enum ExitCode { kDone = 0, kFailed = 1, kBadInput = 2 };

struct Mode {
  StringRef name;
  check::Check (*run)(func::FuncOp);
};

SmallVector<Mode> chosenModes() {
  SmallVector<Mode> modes;
  if (withExpected)
    modes.push_back({"reference", check::checkExpected});
  if (withGradients)
    modes.push_back({"gradients", check::checkGradients});
  if (withDecompose)
    modes.push_back({"decompose", check::checkDecompositions});
  return modes;
}

/// Runs one mode on all functions; a function that cannot be checked has been reported.
ExitCode runMode(ModuleOp module, const Mode &mode) {
  unsigned applied = 0;
  ExitCode code = kDone;
  for (auto function : module.getOps<func::FuncOp>()) {
    check::Check outcome = mode.run(function);
    if (failed(outcome)) {
      code = kFailed;
      continue;
    }
    if (!*outcome)
      continue;
    ++applied;
    llvm::outs() << ((*outcome)->passed() ? "PASS @" : "FAIL @") << function.getSymName() << " " << mode.name
                 << llvm::format(" max_rel_err=%.1e bound=%.1e\n", (*outcome)->error, (*outcome)->bound);
    if (!(*outcome)->passed())
      code = kFailed;
  }
  if (applied == 0 && code == kDone) {
    llvm::errs() << "trainc-check: --" << mode.name << " applies to no function of " << inputFile << "\n";
    return kBadInput;
  }
  return code;
}

} // namespace

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv, "checks ops against independent knowledge\n");
  SmallVector<Mode> modes = chosenModes();
  if (modes.empty()) {
    llvm::errs() << "trainc-check: name at least one of --reference, --gradients, --decompose\n";
    return kBadInput;
  }
  DialectRegistry registry;
  registry.insert<func::FuncDialect, nn::NNDialect, train::TrainDialect>();
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(inputFile, sources, &context);
  if (!module)
    return kBadInput;
  ExitCode code = kDone;
  for (const Mode &mode : modes)
    code = std::max(code, runMode(*module, mode));
  return code;
}
