#include "lib/Codegen/Cpu/Levels.h"

#include "base/cpu_features.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static std::vector<std::string> with(std::vector<std::string> features,
                                     const std::vector<std::string> &further) {
  features.insert(features.end(), further.begin(), further.end());
  return features;
}

const std::vector<Level> &trainc::codegen::allLevels(Fp32Products products) {
  static const std::vector<std::string> v3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"},
                                        v4 = with(
                                            v3, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
  static const std::vector<std::string> unit = with(v4, {"amx_tile", "amx_bf16"});
  static constexpr const char *kUnit = "+amx-tile,+amx-bf16";
  using enum Bf16Products;
  static const std::vector<Level> all = {
      {"x86-64-v3", "x86-64-v3", v3, "", 8, 4, 24, Widened},
      {"x86-64-v4", "x86-64-v4", v4, "", 16, 8, 48, Widened},
      {"x86-64-v4-bf16", "x86-64-v4", with(v4, {"avx512_bf16"}), "+avx512bf16", 16, 8, 48, Pairs,
       "x86-64-v4"},
      {"x86-64-v4-amx", "x86-64-v4", unit, kUnit, 16, 8, 48, MatrixUnit, "x86-64-v4"}};
  static const std::vector<Level> matrixUnit = {
      {"x86-64-v4", "x86-64-v4", unit, kUnit, 16, 8, 48, MatrixUnit}};
  return products == Fp32Products::Bf16x3 ? matrixUnit : all;
}

/// Returns the fastest level of this machine, as `trainrun` would choose; null if it has none.
static const Level *nativeLevel(Fp32Products products) {
  const Level *best = nullptr;
  for (const Level &level : allLevels(products))
    if (missingFeatures(level.name, {level.features.begin(), level.features.end()}).empty() &&
        (!best || speedRank(level.name) > speedRank(best->name)))
      best = &level;
  return best;
}

std::vector<Level> trainc::codegen::chooseLevels(Fp32Products products, StringRef words) {
  SmallVector<StringRef> chosen;
  words.split(chosen, ',');
  const Level *native = llvm::is_contained(chosen, "native") ? nativeLevel(products) : nullptr;
  std::vector<Level> levels;
  for (const Level &level : allLevels(products))
    if (&level == native || llvm::is_contained(chosen, "all") || llvm::is_contained(chosen, level.name))
      levels.push_back(level);
  return levels;
}

std::vector<Level> trainc::codegen::withBases(Fp32Products products, ArrayRef<Level> levels) {
  std::vector<Level> bases;
  for (const Level &level : allLevels(products))
    if (llvm::any_of(levels, [&](const Level &other) {
          return StringRef(other.base ? other.base : other.name) == level.name;
        }))
      bases.push_back(level);
  return bases;
}

// --- What a module of kernels says ---

/// Attributes of a module of kernels: settings that its code depends on, and whether it has products of bf16
/// numbers.
static constexpr StringLiteral kSplitProducts = "plan.split_products", kLevels = "plan.cpu",
                               kBf16Products = "plan.bf16_products";

void trainc::codegen::noteProgram(ModuleOp kernels, Fp32Products products, StringRef words) {
  MLIRContext *context = kernels.getContext();
  if (products == Fp32Products::Bf16x3)
    kernels->setAttr(kSplitProducts, UnitAttr::get(context));
  if (words != "all")
    kernels->setAttr(kLevels, StringAttr::get(context, words));
}

Fp32Products trainc::codegen::fp32Products(ModuleOp kernels) {
  return kernels->hasAttr(kSplitProducts) ? Fp32Products::Bf16x3 : Fp32Products::Fma;
}

void trainc::codegen::addBf16Products(ModuleOp kernels) {
  kernels->setAttr(kBf16Products, UnitAttr::get(kernels.getContext()));
}

static std::vector<Level> chosenLevels(ModuleOp kernels) {
  auto words = kernels->getAttrOfType<StringAttr>(kLevels);
  return chooseLevels(fp32Products(kernels), words ? words.getValue() : "all");
}

std::vector<Level> trainc::codegen::levels(ModuleOp kernels) {
  return kernels->hasAttr(kBf16Products) ? chosenLevels(kernels) : baseLevels(kernels);
}

std::vector<Level> trainc::codegen::baseLevels(ModuleOp kernels) {
  return withBases(fp32Products(kernels), chosenLevels(kernels));
}

// --- Functions with a variant for each level ---

std::string trainc::codegen::variantName(StringRef name, StringRef level) {
  return (name + "." + level).str();
}

func::FuncOp trainc::codegen::functionWithVariants(
    KernelModule &kernels, StringRef name, TypeRange inputs,
    llvm::function_ref<void(OpBuilder &, func::FuncOp, const Level &)> body) {
  return functionWithVariants(kernels, name, inputs, baseLevels(kernels), body);
}

func::FuncOp trainc::codegen::functionWithVariants(
    KernelModule &kernels, StringRef name, TypeRange inputs, ArrayRef<Level> among,
    llvm::function_ref<void(OpBuilder &, func::FuncOp, const Level &)> body) {
  if (auto made = kernels.lookup(name))
    return made;
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  Location loc = builder.getUnknownLoc();
  auto type = builder.getFunctionType(inputs, {});
  auto declaration = func::FuncOp::create(builder, loc, name, type);
  kernels.add(declaration);
  declaration.setPrivate();
  for (const Level &level : among) {
    builder.setInsertionPointToEnd(kernels.getBody());
    auto function = func::FuncOp::create(builder, loc, variantName(name, level.name), type);
    builder.setInsertionPointToStart(function.addEntryBlock());
    body(builder, function, level);
    func::ReturnOp::create(builder, loc);
  }
  return declaration;
}
