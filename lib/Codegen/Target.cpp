#include "lib/Codegen/Target.h"

using namespace mlir;
using namespace trainc::codegen;

OwningOpRef<ModuleOp> Target::createModule(MLIRContext &context) const {
  ModuleOp module = ModuleOp::create(UnknownLoc::get(&context), "kernels");
  module->setAttr(kTargetAttr, StringAttr::get(&context, name()));
  prepare(module);
  return module;
}
