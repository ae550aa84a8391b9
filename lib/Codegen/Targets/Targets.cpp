// Every target, and the choice among them.
#include "dialects/Train/Train.h"
#include "lib/Codegen/Targets/TargetFactory.h"
#include "plan/settings/settings.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static const TargetFactory &factoryOf(StringRef name) {
  static constexpr std::pair<StringLiteral, const TargetFactory *> factories[] = {
#define TRAINC_TARGET(name, ...) {#name, &name##Target},
#include "plan/schema/targets.def"
#undef TRAINC_TARGET
  };
  const auto *found = llvm::find_if(factories, [&](const auto &each) { return each.first == name; });
  assert(found != std::end(factories) && "a row of targets.def");
  return *found->second;
}

std::unique_ptr<Target> Target::of(ModuleOp kernels) {
  auto name = kernels->getAttrOfType<StringAttr>(kTargetAttr);
  assert(name && "a module that createModule() made");
  return factoryOf(name).forKernels(kernels);
}

std::unique_ptr<Target> Target::chosenFor(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  if (module)
    for (auto program : module.getOps<train::ProgramOp>())
      return factoryOf(train::kTarget.of(program)).forProgram(program);
  return factoryOf(kDefaultTarget.name).forProgram(nullptr);
}
