// trainc-check: checks every function of a file against an independent reference; see README.md.
#include "GpuKernels.h"

#include "base/exit_codes.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Pipelines/Pipeline.h"
#include "plan/file/file.h"
#include "tools/cases/run.h"
#include "tools/common/llvm_tools.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
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
llvm::cl::opt<check::KernelTarget>
    kernelTarget("target", llvm::cl::cat(category), llvm::cl::init(check::KernelTarget::Cpu),
                 llvm::cl::desc("what --kernels compiles for and runs on"),
                 llvm::cl::values(clEnumValN(check::KernelTarget::Cpu, "cpu", "this CPU"),
                                  clEnumValN(check::KernelTarget::Cuda, "cuda", "the first NVIDIA GPU")));
llvm::cl::opt<std::string> precision(
    "precision", llvm::cl::cat(category), llvm::cl::init("fp32"),
    llvm::cl::desc("fp32, or bf16 or fp16: check kernels of what training makes of the file in it"));
llvm::cl::opt<std::string> gpuLevels(
    "gpu-levels", llvm::cl::cat(category), llvm::cl::value_desc("LEVELS"),
    llvm::cl::desc("with --kernels --target=cuda: which machine code there is, as of trainc compile"));
llvm::cl::opt<std::string>
    caseFolder("write-cases", llvm::cl::cat(category), llvm::cl::value_desc("DIR"),
               llvm::cl::desc("with --kernels --target=cuda: write what would be run, for other machines"));
llvm::cl::opt<unsigned>
    simulatedRanks("ranks", llvm::cl::cat(category),
                   llvm::cl::desc("compare a model's training on N simulated ranks with one rank"));

struct Mode {
  StringRef name;
  std::function<check::Check(func::FuncOp)> run;
};

/// Options of --kernels, read once: the linker that kernels use resets LLVM's options.
struct KernelOptions {
  bool run = withKernels;
  double bound = kernelBound;
  check::KernelTarget target = kernelTarget;
  std::string precision = ::precision, levels = gpuLevels, folder = caseFolder;
};

/// Requested modes other than --kernels.
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

ExitCode print(StringRef function, StringRef mode, const check::Outcome &outcome) {
  llvm::outs() << (outcome.passed() ? "PASS @" : "FAIL @") << function << " " << mode
               << llvm::format(" max_rel_err=%.1e bound=%.1e\n", outcome.error, outcome.bound);
  return outcome.passed() ? kExitDone : kExitFailed;
}

ExitCode appliesToNothing(StringRef mode, StringRef file) {
  llvm::errs() << "trainc-check: --" << mode << " applies to no function of " << file << "\n";
  return kExitUsage;
}

ExitCode tell(const Status &status) {
  llvm::errs() << "error: " << status.message() << "\n";
  return ExitCode(status.exitCode());
}

/// Runs one mode on all functions. Functions that cannot be checked were already reported.
ExitCode runMode(ModuleOp module, const Mode &mode, StringRef file) {
  unsigned applied = 0;
  ExitCode code = kExitDone;
  for (auto function : module.getOps<func::FuncOp>()) {
    check::Check outcome = mode.run(function);
    if (failed(outcome)) {
      code = kExitFailed;
      continue;
    }
    if (!*outcome)
      continue;
    ++applied;
    code = std::max(code, print(function.getSymName(), mode.name, **outcome));
  }
  return applied == 0 && code == kExitDone ? appliesToNothing(mode.name, file) : code;
}

ExitCode runOnGpu(const check::PlannedCases &planned) {
  Result<const fb::Plan *> plan = readPayload(std::as_bytes(std::span(planned.plan)));
  if (!plan.ok())
    return tell(plan.status());
  Result<std::unique_ptr<Device>> device = cases::openDeviceOf(**plan);
  if (!device.ok())
    return tell(device.status());
  Result<std::vector<double>> errors = cases::run(**plan, **device, planned.cases);
  llvm::outs() << "device: " << (*device)->description() << "\n";
  if (!errors.ok())
    return tell(errors.status());
  ExitCode code = kExitDone;
  for (auto [tested, error] : llvm::zip_equal(planned.cases, *errors))
    code = std::max(code, print(tested.name, "kernels", {error, tested.bound}));
  return code;
}

/// Name of a file of test cases: that of the functions' file, and the precision.
std::string caseName(StringRef file, StringRef precision) {
  return (llvm::sys::path::stem(file) + "-" + precision).str();
}

ExitCode runGpuKernels(ModuleOp module, const KernelOptions &options, const check::KernelBound &bound,
                       StringRef file) {
  FailureOr<check::PlannedCases> planned =
      check::planForGpu(module, bound, options.levels.empty() ? "all" : options.levels);
  if (failed(planned))
    return kExitFailed;
  if (planned->cases.empty())
    return appliesToNothing("kernels", file);
  if (options.folder.empty())
    return runOnGpu(*planned);
  const Status written =
      cases::write(options.folder, caseName(file, options.precision), planned->plan, planned->cases);
  return written.ok() ? kExitDone : tell(written);
}

/// Checks the kernels of a model's entries or, for another file, of its functions.
ExitCode runKernels(ModuleOp file, const KernelOptions &options, StringRef name) {
  const bool isModel = !file.getOps<train::ProgramOp>().empty(), isNarrow = options.precision != "fp32";
  check::KernelBound bound{options.bound, isModel || isNarrow || options.target == check::KernelTarget::Cuda};
  OwningOpRef<ModuleOp> made;
  if (isModel || isNarrow) {
    FailureOr<OwningOpRef<ModuleOp>> functions =
        isModel ? check::kernelsOf(file, options.target, options.precision)
                : check::narrowed(file, options.precision);
    if (failed(functions))
      return kExitFailed;
    made = std::move(*functions);
  }
  ModuleOp module = made ? *made : file;
  if (options.target == check::KernelTarget::Cuda)
    return runGpuKernels(module, options, bound, name);
  return runMode(
      module, {"kernels", [&](func::FuncOp function) { return check::checkKernels(function, bound); }}, name);
}

/// Whether --gpu-levels contains only words that programs accept.
bool areGpuLevels(StringRef words) {
  SmallVector<StringRef> given;
  words.split(given, ',');
  return llvm::all_of(
      given, [&](StringRef word) { return train::kGpuLevels.indexOf(word) < train::kGpuLevels.wordCount(); });
}

/// Reports contradictory options, if there are any.
bool contradict(const KernelOptions &options) {
  const bool isGpu = options.target == check::KernelTarget::Cuda,
             isForGpus = !options.folder.empty() || !options.levels.empty();
  StringRef problem;
  if (!llvm::is_contained({"fp32", "bf16", "fp16"}, options.precision))
    problem = "--precision must be fp32, bf16 or fp16";
  else if (!options.run && (isGpu || options.precision != "fp32" || isForGpus))
    problem = "--target, --precision, --gpu-levels and --write-cases are options of --kernels: name it, too";
  else if (!isGpu && isForGpus)
    problem = "--gpu-levels and --write-cases are for GPUs: add --target=cuda";
  else if (!options.levels.empty() && !areGpuLevels(options.levels))
    problem = "--gpu-levels must be all, none or levels with commas between them, as of trainc compile";
  if (!problem.empty())
    llvm::errs() << "trainc-check: " << problem << "\n";
  return !problem.empty();
}

ExitCode runRanks(ModuleOp module, unsigned ranks) {
  FailureOr<check::Outcome> outcome = check::checkRanks(module, ranks, 1e-9);
  if (failed(outcome))
    return kExitFailed;
  llvm::outs() << (outcome->passed() ? "PASS" : "FAIL") << " ranks=" << ranks
               << llvm::format(" max_rel_err=%.1e bound=%.1e\n", outcome->error, outcome->bound);
  return outcome->passed() ? kExitDone : kExitFailed;
}

} // namespace

int main(int argc, char **argv) {
  allowLostMessages();
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "checks ops against independent knowledge\n");
  const SmallVector<Mode> modes = chosenModes();
  const KernelOptions kernels;
  std::string file = inputFile;
  const unsigned ranks = simulatedRanks;
  if (modes.empty() && !kernels.run && ranks == 0) {
    llvm::errs()
        << "trainc-check: name at least one of --reference, --gradients, --decompose, --kernels, --ranks=N\n";
    return kExitUsage;
  }
  if (contradict(kernels))
    return kExitUsage;
  DialectRegistry registry;
  registry.insert<func::FuncDialect>();
  registerDialects(registry);
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, sources, &context);
  if (!module)
    return kExitUsage;
  ExitCode code = ranks == 0 ? kExitDone : runRanks(*module, ranks);
  for (const Mode &mode : modes)
    code = std::max(code, runMode(*module, mode, file));
  if (kernels.run)
    code = std::max(code, runKernels(*module, kernels, file));
  if (const std::optional<std::string> error = flushOutput()) {
    llvm::errs() << "error: " << *error << "\n";
    code = std::max(code, kExitFailed);
  }
  return code;
}
