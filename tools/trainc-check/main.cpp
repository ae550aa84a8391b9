// trainc-check: checks every function of a file against independent knowledge; see README.md.
#include "Modes.h"

#include "lib/Pipelines/Pipeline.h"
#include "tools/common/llvm_tools.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"

#include <functional>

using namespace mlir;
using namespace trainc;

namespace {

llvm::cl::OptionCategory category("What is compared (README.md says more)");
llvm::cl::opt<std::string> inputFile(llvm::cl::Positional, llvm::cl::desc("FILE.mlir"), llvm::cl::Required);
llvm::cl::opt<bool> withExpected("reference", llvm::cl::cat(category),
                                 llvm::cl::desc("compare the reference with values in the file"));
llvm::cl::opt<bool> withGradients("gradients", llvm::cl::cat(category),
                                  llvm::cl::desc("compare gradients with finite differences"));
llvm::cl::opt<bool> withDecompose("decompose", llvm::cl::cat(category),
                                  llvm::cl::desc("compare composite ops with their decompositions"));
llvm::cl::opt<bool> withKernels("kernels", llvm::cl::cat(category),
                                llvm::cl::desc("compare machine code with the reference"));
llvm::cl::opt<double> kernelBound("bound", llvm::cl::cat(category), llvm::cl::init(1e-6),
                                  llvm::cl::desc("largest relative error of kernels"));

llvm::cl::opt<unsigned>
    simulatedRanks("ranks", llvm::cl::cat(category),
                   llvm::cl::desc("compare a model's training on N simulated ranks with one rank"));

enum ExitCode { kDone = 0, kFailed = 1, kBadInput = 2 };

struct Mode {
  StringRef name;
  std::function<check::Check(func::FuncOp)> run;
};

/// The modes asked for. The linker that kernels go through resets LLVM's options, so they are read once,
/// here.
SmallVector<Mode> chosenModes() {
  SmallVector<Mode> modes;
  if (withExpected)
    modes.push_back({"reference", check::checkExpected});
  if (withGradients)
    modes.push_back({"gradients", check::checkGradients});
  if (withDecompose)
    modes.push_back({"decompose", check::checkDecompositions});
  if (withKernels)
    modes.push_back({"kernels", [bound = double(kernelBound)](func::FuncOp function) {
                       return check::checkKernels(function, bound);
                     }});
  return modes;
}

/// Runs one mode on all functions; a function that cannot be checked has been reported.
ExitCode runMode(ModuleOp module, const Mode &mode, StringRef file) {
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
    llvm::errs() << "trainc-check: --" << mode.name << " applies to no function of " << file << "\n";
    return kBadInput;
  }
  return code;
}

ExitCode runRanks(ModuleOp module, unsigned ranks) {
  FailureOr<check::Outcome> outcome = check::checkRanks(module, ranks, 1e-9);
  if (failed(outcome))
    return kFailed;
  llvm::outs() << (outcome->passed() ? "PASS" : "FAIL") << " ranks=" << ranks
               << llvm::format(" max_rel_err=%.1e bound=%.1e\n", outcome->error, outcome->bound);
  return outcome->passed() ? kDone : kFailed;
}

} // namespace

int main(int argc, char **argv) {
  allowLostMessages();
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "checks ops against independent knowledge\n");
  SmallVector<Mode> modes = chosenModes();
  std::string file = inputFile;
  const unsigned ranks = simulatedRanks;
  if (modes.empty() && ranks == 0) {
    llvm::errs()
        << "trainc-check: name at least one of --reference, --gradients, --decompose, --kernels, --ranks=N\n";
    return kBadInput;
  }
  DialectRegistry registry;
  registry.insert<func::FuncDialect>();
  registerDialects(registry);
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, sources, &context);
  if (!module)
    return kBadInput;
  ExitCode code = ranks == 0 ? kDone : runRanks(*module, ranks);
  for (const Mode &mode : modes)
    code = std::max(code, runMode(*module, mode, file));
  if (const std::optional<std::string> error = flushOutput()) {
    llvm::errs() << "error: " << *error << "\n";
    code = std::max(code, kFailed);
  }
  return code;
}
