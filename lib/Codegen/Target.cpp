#include "lib/Codegen/Target.h"

#include "dialects/Train/Train.h"
#include "lib/Codegen/Cpu/CpuTarget.h"
#include "lib/Codegen/Cpu/Levels.h"
#include "runtime/base/cpu_features.h"

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

static LibraryCalls libraryCallsOf(train::ProgramOp program) {
  const StringRef word = program.getLibraryCalls().value_or("none");
  return {.products = word == "products" || word == "all", .attention = word == "attention" || word == "all"};
}

static Fp32Products productsOf(train::ProgramOp program) {
  return program.getFp32Products() == "bf16x3" ? Fp32Products::Bf16x3 : Fp32Products::Fma;
}

/// `words` choose no level that the program's products have code for.
static LogicalResult reportNoLevel(train::ProgramOp program, StringRef words) {
  const Fp32Products products = productsOf(program);
  const Level &least = allLevels(products).front();
  auto error = program.emitError("cpu ") << words << ": ";
  const StringRef name = products == Fp32Products::Bf16x3 ? "bf16x3" : "fma";
  if (words != "native")
    return error << "fp32_products " << name << " has code for " << least.name
                 << " alone; choose that, or fma";
  const auto missing = missingFeatures(least.name, {least.features.begin(), least.features.end()});
  return error << "the CPU of this machine cannot run fp32_products " << name
               << " (missing: " << llvm::join(missing, ", ")
               << "); name the levels of the CPU that the plan is for";
}

LogicalResult Target::settle(train::ProgramOp program) {
  const StringRef words = program.getCpu().value_or("all");
  if (words == "all")
    return success();
  const std::vector<Level> levels = chooseLevels(productsOf(program), words);
  if (levels.empty())
    return reportNoLevel(program, words);
  program.setCpu(llvm::join(llvm::map_range(levels, [](const Level &level) { return level.name; }), ","));
  return success();
}

std::unique_ptr<Target> Target::chosenFor(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  if (!module)
    return createCpuTarget();
  for (auto program : module.getOps<train::ProgramOp>())
    return createCpuTarget(productsOf(program), libraryCallsOf(program), program.getCpu().value_or("all"));
  return createCpuTarget();
}

OwningOpRef<ModuleOp> Target::createModule(MLIRContext &context) const {
  ModuleOp module = ModuleOp::create(UnknownLoc::get(&context), "kernels");
  module->setAttr(kTargetAttr, StringAttr::get(&context, name()));
  prepare(module);
  return module;
}
