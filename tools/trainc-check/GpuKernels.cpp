#include "GpuKernels.h"

#include "Buffer.h"
#include "EntryModule.h"
#include "KernelReference.h"

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Codegen/Target.h"
#include "lib/Fusion/Passes.h"
#include "lib/Pipelines/Pipeline.h"
#include "lib/Step/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::check;
using reference::Tensor;

static constexpr StringLiteral kWords = "target cuda";

/// The function in a module, scheduled for the GPU; nothing if it consists of views and constants only.
static FailureOr<OwningOpRef<ModuleOp>> scheduled(func::FuncOp function) {
  OwningOpRef<ModuleOp> module = programModule(function.getContext(), kWords);
  module->push_back(function.clone());
  PassManager passes(function.getContext());
  passes.addPass(createDecomposePass());
  passes.addPass(createFuseEpilogues());
  passes.addPass(createFusePass());
  if (failed(passes.run(*module)))
    return failure();
  const bool runs =
      module
          ->walk([](ExecutableOpInterface op) {
            return isGenerated(op.getKernelClass()) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  return runs ? std::move(module) : OwningOpRef<ModuleOp>();
}

static FailureOr<cases::Case> caseOf(func::FuncOp function, const KernelBound &bound) {
  FailureOr<KernelReference> reference = referenceOf(function, bound);
  if (failed(reference))
    return failure();
  cases::Case made;
  made.name = function.getSymName().str();
  made.bound = reference->bound;
  for (const Tensor &argument : reference->arguments) {
    const Buffer bytes(argument);
    const auto *first = static_cast<const std::byte *>(bytes.data());
    made.arguments.emplace_back(first, first + bytes.size());
  }
  made.results = expectedResults(*reference);
  return made;
}

FailureOr<PlannedCases> check::planForGpu(ModuleOp file, const KernelBound &bound, StringRef levels) {
  PlannedCases planned;
  EntryModule entry(file.getContext(), (kWords + " gpu_levels \"" + levels + "\"").str(), EntryKind::eval);
  auto program = *entry.module().getOps<train::ProgramOp>().begin();
  if (failed(codegen::Target::chosenFor(program)->resolveSettings(program)))
    return failure();
  for (auto function : file.getOps<func::FuncOp>()) {
    if (function->hasAttr("check.no_kernels"))
      continue;
    FailureOr<OwningOpRef<ModuleOp>> module = scheduled(function);
    if (failed(module))
      return failure();
    if (!*module)
      continue;
    FailureOr<cases::Case> made = caseOf(function, bound);
    if (failed(made))
      return failure();
    entry.add(*(*module)->getOps<func::FuncOp>().begin());
    planned.functions.push_back(function);
    planned.cases.push_back(std::move(*made));
  }
  if (planned.cases.empty())
    return planned;
  FailureOr<std::vector<uint8_t>> plan = planOfEntries(entry.module(), "cases");
  if (failed(plan))
    return failure();
  planned.plan = std::move(*plan);
  return planned;
}
