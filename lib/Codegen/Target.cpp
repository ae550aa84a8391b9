#include "lib/Codegen/Target.h"

#include "lib/Codegen/Cpu/CpuTarget.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// On a module of kernels.
static constexpr StringLiteral kTargetAttr = "plan.target";

std::unique_ptr<Target> Target::of(ModuleOp kernels) {
  [[maybe_unused]] auto name = kernels->getAttrOfType<StringAttr>(kTargetAttr);
  assert(name && name == "cpu" && "a module that createModule() made");
  return createCpuTarget(fp32Products(kernels));
}

OwningOpRef<ModuleOp> Target::createModule(MLIRContext &context) const {
  ModuleOp module = ModuleOp::create(UnknownLoc::get(&context), "kernels");
  module->setAttr(kTargetAttr, StringAttr::get(&context, name()));
  prepare(module);
  return module;
}
