// Pass `generate-kernels`: code for the kernels that summarise-kernels declared.
#include "lib/Analysis/KernelAttributes.h"
#include "lib/Codegen/KernelDialects.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/Target.h"

#include "llvm/ADT/StringMap.h"

#include <algorithm>

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_GENERATEKERNELSPASS
#include "lib/Codegen/Passes.h.inc"

namespace {

struct GenerateKernelsPass : impl::GenerateKernelsPassBase<GenerateKernelsPass> {
  void runOnOperation() override;

private:
  LogicalResult generate(ModuleOp kernels);
  LogicalResult generate(const codegen::Target &target, func::FuncOp source, codegen::KernelModule &kernels);
  void renameLaunches(Operation *root);
  void renameSums(plan::CollectiveOp collective);

  DenseMap<StringAttr, plan::KernelOp> declared_;
  /// final names of declared kernels
  DenseMap<StringAttr, FlatSymbolRefAttr> names_;
  llvm::StringMap<plan::KernelOp> named_;
};

/// Joins the parameters of equal kernels: aliases that either allows.
ArrayAttr joinParams(ArrayAttr a, ArrayAttr b) {
  SmallVector<Attribute> params;
  for (auto [one, other] :
       llvm::zip_equal(a.getAsRange<plan::ParamAttr>(), b.getAsRange<plan::ParamAttr>())) {
    SmallVector<int64_t> aliases;
    std::ranges::set_union(one.getMayAlias(), other.getMayAlias(), std::back_inserter(aliases));
    params.push_back(
        plan::ParamAttr::get(a.getContext(), one.getAccess(), one.getElement(), one.getBytes(), aliases));
  }
  return ArrayAttr::get(a.getContext(), params);
}

} // namespace

/// Generates one kernel source; kernels with equal code become one.
LogicalResult GenerateKernelsPass::generate(const codegen::Target &target, func::FuncOp source,
                                            codegen::KernelModule &kernels) {
  auto made = target.generate(&source.front().front(), kernels);
  if (failed(made))
    return failure();
  auto names = source->getAttrOfType<ArrayAttr>(kKernelsAttr).getAsRange<FlatSymbolRefAttr>();
  for (auto [name, symbol] : llvm::zip_equal(names, *made)) {
    plan::KernelOp kernel = declared_.lookup(name.getAttr());
    names_[name.getAttr()] = FlatSymbolRefAttr::get(&getContext(), symbol);
    const auto [known, isNew] = named_.try_emplace(symbol, kernel);
    if (isNew) {
      kernel.setSymName(symbol);
      continue;
    }
    plan::KernelOp same = known->second;
    same.setParamsAttr(joinParams(same.getParams(), kernel.getParams()));
    kernel.erase();
  }
  return success();
}

/// Replaces all sources in a module of kernels by code.
LogicalResult GenerateKernelsPass::generate(ModuleOp kernels) {
  const std::unique_ptr<codegen::Target> target = codegen::Target::of(kernels);
  SmallVector<func::FuncOp> sources(kernels.getOps<func::FuncOp>());
  codegen::KernelModule functions(kernels);
  for (func::FuncOp source : sources)
    if (failed(generate(*target, source, functions)))
      return failure();
  for (func::FuncOp source : sources)
    source.erase();
  return success();
}

void GenerateKernelsPass::renameSums(plan::CollectiveOp collective) {
  SmallVector<Attribute> renamed;
  for (auto range : collective.getRanges().getAsRange<plan::RangeAttr>())
    renamed.push_back(plan::RangeAttr::get(
        &getContext(), range.getSource(), range.getDestination(), range.getElements(), range.getElement(),
        range.getInto(), range.getSum() ? names_.lookup(range.getSum().getAttr()) : FlatSymbolRefAttr(),
        range.getWorkspace(), range.getWorkspaceBytes()));
  collective.setRangesAttr(ArrayAttr::get(&getContext(), renamed));
}

void GenerateKernelsPass::renameLaunches(Operation *root) {
  root->walk([&](Operation *op) {
    if (auto launch = dyn_cast<plan::LaunchOp>(op))
      return launch.setKernelAttr(names_.lookup(launch.getKernelAttr().getAttr()));
    if (auto collective = dyn_cast<plan::CollectiveOp>(op))
      return renameSums(collective);
    if (auto sum = op->getAttrOfType<FlatSymbolRefAttr>(kRankSumAttr))
      return op->setAttr(kRankSumAttr, names_.lookup(sum.getAttr()));
    auto specs = op->getAttrOfType<ArrayAttr>(kLaunchesAttr);
    if (!specs)
      return;
    SmallVector<Attribute> renamed;
    for (auto spec : specs.getAsRange<plan::LaunchSpecAttr>())
      renamed.push_back(plan::LaunchSpecAttr::get(&getContext(), names_.lookup(spec.getKernel().getAttr()),
                                                  spec.getArgs()));
    op->setAttr(kLaunchesAttr, ArrayAttr::get(&getContext(), renamed));
  });
}

void GenerateKernelsPass::runOnOperation() {
  ModuleOp module = getOperation();
  auto kernels = module.lookupSymbol<ModuleOp>("kernels");
  if (!kernels) {
    module.emitError("has no summaries of kernels; run summarise-kernels first");
    return signalPassFailure();
  }
  names_.clear();
  declared_.clear();
  named_.clear();
  for (auto kernel : module.getOps<plan::KernelOp>())
    declared_[kernel.getSymNameAttr()] = kernel;
  auto hostKernels = module.lookupSymbol<ModuleOp>("host_kernels");
  if (failed(generate(kernels)) || (hostKernels && failed(generate(hostKernels))))
    return signalPassFailure();
  for (Operation &op : *module.getBody())
    if (&op != kernels && &op != hostKernels)
      renameLaunches(&op);
}

} // namespace trainc
