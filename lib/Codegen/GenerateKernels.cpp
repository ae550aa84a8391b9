// The pass generate-kernels: code for the kernels that summarise-kernels declared.
#include "lib/Analysis/KernelAttributes.h"
#include "lib/Codegen/KernelDialects.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/Target.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_GENERATEKERNELSPASS
#include "lib/Codegen/Passes.h.inc"

namespace {

struct GenerateKernelsPass : impl::GenerateKernelsPassBase<GenerateKernelsPass> {
  void runOnOperation() override;

private:
  LogicalResult generate(const codegen::Target &target, func::FuncOp source);
  void renameLaunches(Operation *root);

  DenseMap<StringAttr, plan::KernelOp> declared_;
  /// The names that code gives to declared kernels.
  DenseMap<StringAttr, FlatSymbolRefAttr> names_;
  llvm::StringSet<> taken_;
};

} // namespace

/// Kernels whose code is equal become one.
LogicalResult GenerateKernelsPass::generate(const codegen::Target &target, func::FuncOp source) {
  auto made = target.generate(&source.front().front(), source->getParentOfType<ModuleOp>());
  if (failed(made))
    return failure();
  auto names = source->getAttrOfType<ArrayAttr>(kKernelsAttr).getAsRange<FlatSymbolRefAttr>();
  for (auto [name, symbol] : llvm::zip_equal(names, *made)) {
    plan::KernelOp kernel = declared_.lookup(name.getAttr());
    names_[name.getAttr()] = FlatSymbolRefAttr::get(&getContext(), symbol);
    if (taken_.insert(symbol).second)
      kernel.setSymName(symbol);
    else
      kernel.erase();
  }
  return success();
}

void GenerateKernelsPass::renameLaunches(Operation *root) {
  root->walk([&](Operation *op) {
    if (auto launch = dyn_cast<plan::LaunchOp>(op))
      return launch.setKernelAttr(names_.lookup(launch.getKernelAttr().getAttr()));
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
  taken_.clear();
  for (auto kernel : module.getOps<plan::KernelOp>())
    declared_[kernel.getSymNameAttr()] = kernel;
  const std::unique_ptr<codegen::Target> target = codegen::Target::of(kernels);
  SmallVector<func::FuncOp> sources(kernels.getOps<func::FuncOp>());
  for (func::FuncOp source : sources)
    if (failed(generate(*target, source)))
      return signalPassFailure();
  for (func::FuncOp source : sources)
    source.erase();
  for (Operation &op : *module.getBody())
    if (&op != kernels)
      renameLaunches(&op);
}

} // namespace trainc
