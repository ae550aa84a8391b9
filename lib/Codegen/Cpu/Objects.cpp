// Compilation of the LLVM dialect to machine code for every instruction-set level.
#include "lib/Codegen/Cpu/Objects.h"

#include "lib/Codegen/Cpu/ExpandConversions.h"
#include "lib/Codegen/Cpu/Levels.h"
#include "lib/Codegen/Cpu/Link.h"
#include "lib/Codegen/Cpu/ShortMasks.h"
#include "lib/Codegen/Kernels/CodeCache.h"
#include "lib/Codegen/Kernels/Lowering.h"
#include "lib/Codegen/Kernels/TargetMachine.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace trainc::codegen;

namespace {

void initialiseTarget() {
  static const bool done = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)done;
}

/// Selects the variant of `level`, or of its base, for every function with variants, and gives it the
/// function's name.
void chooseVariants(llvm::Module &module, const Level &level, const std::vector<Level> &all) {
  llvm::SmallVector<llvm::Function *> declarations;
  for (llvm::Function &function : module)
    if (function.isDeclaration())
      declarations.push_back(&function);
  for (llvm::Function *declared : declarations) {
    llvm::Function *chosen = module.getFunction(variantName(declared->getName(), level.name));
    if (!chosen && level.base)
      chosen = module.getFunction(variantName(declared->getName(), level.base));
    if (!chosen)
      continue;
    for (const Level &other : all)
      if (llvm::Function *variant = module.getFunction(variantName(declared->getName(), other.name));
          variant && variant != chosen)
        variant->eraseFromParent();
    declared->replaceAllUsesWith(chosen);
    declared->eraseFromParent();
    chosen->setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

/// Set of kernels in a relocatable object. A level and its base have most code in common, which is compiled
/// once, for the base.
enum class Part { All, Common, Own };

/// Returns the names of kernels whose code differs between a level of `all` and its base, because they call a
/// function with a variant for that level.
llvm::StringSet<> ownKernels(llvm::Module &module, const std::vector<Level> &all) {
  llvm::SmallVector<llvm::Function *> found;
  for (llvm::Function &function : module)
    if (llvm::any_of(all, [&](const Level &level) {
          return level.base && module.getFunction(variantName(function.getName(), level.name));
        }))
      found.push_back(&function);
  llvm::StringSet<> names;
  while (!found.empty())
    for (llvm::User *user : found.pop_back_val()->users())
      if (auto *call = llvm::dyn_cast<llvm::Instruction>(user);
          call && names.insert(call->getFunction()->getName()).second)
        found.push_back(call->getFunction());
  return names;
}

/// Erases the kernels that are not in `part`, and functions that only they use.
void keepPart(llvm::Module &module, Part part, const llvm::StringSet<> &own) {
  if (part == Part::All)
    return;
  for (llvm::Function &function : llvm::make_early_inc_range(module))
    if (!function.isDeclaration() && !function.hasLocalLinkage() &&
        own.contains(function.getName()) != (part == Part::Own))
      function.eraseFromParent();
  auto isUnused = [](const llvm::GlobalValue &value) { return value.hasLocalLinkage() && value.use_empty(); };
  for (bool erased = true; erased;) {
    erased = false;
    for (llvm::Function &function : llvm::make_early_inc_range(module))
      if (isUnused(function)) {
        function.eraseFromParent();
        erased = true;
      }
  }
  for (llvm::GlobalVariable &variable : llvm::make_early_inc_range(module.globals()))
    if (isUnused(variable))
      variable.eraseFromParent();
}

/// A function of a part of a level.
struct Unit {
  std::string bitcode; ///< of a module that defines this function alone, for the level
  std::string object = {}, error = {};
};

/// A part of a level to be compiled.
struct Job {
  const Level *level;
  Part part;
  std::vector<Unit> units = {};
  std::string error = {};
};

/// The parts to be compiled for the levels `all` and, for each level, which of them are linked.
struct Jobs {
  std::vector<Job> jobs;
  std::vector<llvm::SmallVector<size_t>> ofLevel;

  explicit Jobs(const std::vector<Level> &all) {
    llvm::StringMap<size_t> common; // by base
    for (const Level &level : all) {
      const bool isBase = llvm::any_of(all, [&](const Level &other) { return isBaseOf(level, other); });
      if (isBase)
        common[level.name] = add(level, Part::Common);
      const auto shared = common.find(isBase || !level.base ? level.name : level.base);
      if (shared == common.end())
        ofLevel.push_back({add(level, Part::All)});
      else
        ofLevel.push_back({shared->second, add(level, Part::Own)});
    }
  }

private:
  static bool isBaseOf(const Level &level, const Level &other) {
    return other.base && llvm::StringRef(other.base) == level.name;
  }

  size_t add(const Level &level, Part part) {
    jobs.push_back({&level, part});
    return jobs.size() - 1;
  }
};

std::string bitcodeOf(const llvm::Module &module) {
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  return bitcode;
}

/// Returns a copy of a module that defines `functions` alone, and has the constants and declarations that
/// they use.
std::unique_ptr<llvm::Module> copyOf(const llvm::Module &module,
                                     llvm::ArrayRef<const llvm::Function *> functions) {
  const llvm::SmallPtrSet<const llvm::GlobalValue *, 16> defined(functions.begin(), functions.end());
  llvm::ValueToValueMapTy values;
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module, values, [&](const llvm::GlobalValue *value) {
    return defined.contains(value) || llvm::isa<llvm::GlobalVariable>(value);
  });
  for (llvm::GlobalVariable &variable : llvm::make_early_inc_range(copy->globals()))
    if (variable.use_empty())
      variable.eraseFromParent();
  for (llvm::Function &declared : llvm::make_early_inc_range(*copy))
    if (declared.isDeclaration() && declared.use_empty())
      declared.eraseFromParent();
  return copy;
}

/// Adds the functions of a module as units. A copy takes time for all functions of the module, even if it
/// defines one. So the module is cut into few parts, and each part again.
void addUnits(const llvm::Module &module, std::vector<Unit> &units) {
  constexpr size_t kParts = 16;
  llvm::SmallVector<const llvm::Function *> functions;
  for (const llvm::Function &function : module)
    if (!function.isDeclaration())
      functions.push_back(&function);
  const size_t size = llvm::divideCeil(functions.size(), kParts);
  for (size_t begin = 0; begin < functions.size(); begin += size) {
    const auto part = llvm::ArrayRef(functions).slice(begin, std::min(size, functions.size() - begin));
    const std::unique_ptr<llvm::Module> copy = copyOf(module, part);
    if (part.size() > 1)
      addUnits(*copy, units);
    else
      units.push_back({bitcodeOf(*copy)});
  }
}

/// Returns the functions of a module as units. They call each other by symbols that the linker resolves; each
/// unit has copies of the constants that it uses.
std::vector<Unit> splitFunctions(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (function.hasLocalLinkage()) {
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
      function.setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
  std::vector<Unit> units;
  addUnits(module, units);
  return units;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machineOf(const Level &level) {
  return createMachine({.backend = "X86",
                        .triple = "x86_64-unknown-linux-gnu",
                        .name = level.llvmCpu,
                        .features = level.llvmFeatures});
}

/// Returns the functions of `part` for a level. Each call has its own LLVM context, so that calls can run in
/// parallel.
llvm::Expected<std::vector<Unit>> unitsOfPart(llvm::StringRef bitcode, const Level &level, Part part,
                                              const std::vector<Level> &all) {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "kernels"), context);
  if (!module)
    return module.takeError();
  auto machine = machineOf(level);
  if (!machine)
    return machine.takeError();
  (*module)->setTargetTriple((*machine)->getTargetTriple());
  (*module)->setDataLayout((*machine)->createDataLayout());
  const llvm::StringSet<> own = ownKernels(**module, all);
  chooseVariants(**module, level, all);
  keepPart(**module, part, own);
  if (!llvm::is_contained(level.features, "avx512bw"))
    expandShortMasks(**module);
  for (llvm::Function &function : **module) {
    function.addFnAttr("target-cpu", level.llvmCpu);
    function.addFnAttr("target-features", level.llvmFeatures);
    function.addFnAttr("prefer-vector-width",
                       "512"); // LLVM would otherwise use half of AVX-512's register width
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  return splitFunctions(**module);
}

/// Compiles the relocatable object of a unit.
llvm::Expected<std::string> compileUnit(llvm::StringRef bitcode, const Level &level) {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "kernel"), context);
  if (!module)
    return module.takeError();
  auto machine = machineOf(level);
  if (!machine)
    return machine.takeError();
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("LLVM cannot emit objects");
  passes.run(**module);
  return object.str().str();
}

/// Compiles the units of all jobs in parallel, and keeps the first error of each.
void compileUnits(MLIRContext *context, std::vector<Job> &jobs) {
  std::vector<std::pair<Job *, Unit *>> units;
  for (Job &job : jobs)
    for (Unit &unit : job.units)
      units.emplace_back(&job, &unit);
  mlir::parallelForEach(context, units, [](std::pair<Job *, Unit *> of) {
    const llvm::StringRef bitcode = of.second->bitcode;
    if (llvm::Expected<std::string> object =
            cachedCode(bitcode, [&] { return compileUnit(bitcode, *of.first->level); }))
      of.second->object = std::move(*object);
    else
      of.second->error = llvm::toString(object.takeError());
  });
  for (Job &job : jobs)
    for (const Unit &unit : job.units)
      if (job.error.empty())
        job.error = unit.error;
}

} // namespace

FailureOr<std::vector<Object>> trainc::codegen::compileObjects(ModuleOp kernels) {
  auto report = [&](llvm::Error error) -> LogicalResult {
    return kernels.emitError() << "code generation: " << llvm::toString(std::move(error));
  };
  expandConversions(kernels);
  if (failed(lowerToLLVMDialect(kernels)))
    return failure();
  llvm::Expected<std::string> bitcode = translateToBitcode(kernels);
  if (!bitcode)
    return report(bitcode.takeError());
  initialiseTarget();
  const std::vector<Level> all = levels(kernels);
  Jobs made(all);
  mlir::parallelForEach(kernels.getContext(), made.jobs, [&](Job &job) {
    if (llvm::Expected<std::vector<Unit>> units = unitsOfPart(*bitcode, *job.level, job.part, all))
      job.units = std::move(*units);
    else
      job.error = llvm::toString(units.takeError());
  });
  compileUnits(kernels.getContext(), made.jobs);
  std::vector<Object> objects;
  for (auto [level, jobs] : llvm::zip_equal(all, made.ofLevel)) {
    llvm::SmallVector<llvm::StringRef> parts;
    for (const size_t index : jobs) {
      const Job &job = made.jobs[index];
      if (!job.error.empty())
        return report(llvm::createStringError(job.error));
      for (const Unit &unit : job.units)
        parts.push_back(unit.object);
    }
    llvm::Expected<std::string> image = linkSharedObject(parts);
    if (!image)
      return report(image.takeError());
    objects.push_back({level.name, level.features, std::move(*image)});
  }
  return objects;
}
