#include "lib/Codegen/Cpu/Levels.h"

#include "lib/Codegen/Cpu/CpuTarget.h"

using namespace mlir;
using namespace trainc::codegen;

static std::vector<std::string> with(std::vector<std::string> features,
                                     const std::vector<std::string> &further) {
  features.insert(features.end(), further.begin(), further.end());
  return features;
}

const std::vector<Level> &trainc::codegen::levels(Fp32Products products) {
  static const std::vector<std::string> v3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"},
                                        v4 = with(
                                            v3, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
  static const std::vector<Level> all = {{"x86-64-v3", v3, "", 8, 4, 24}, {"x86-64-v4", v4, "", 16, 8, 48}};
  static const std::vector<Level> matrixUnit = {
      {"x86-64-v4", with(v4, {"amx_tile", "amx_bf16"}), "+amx-tile,+amx-bf16", 16, 8, 48}};
  return products == Fp32Products::Bf16x3 ? matrixUnit : all;
}

std::string trainc::codegen::variantName(StringRef name, const Level &level) {
  return (name + "." + level.name).str();
}

func::FuncOp trainc::codegen::functionWithVariants(
    ModuleOp kernels, StringRef name, TypeRange inputs,
    llvm::function_ref<void(OpBuilder &, func::FuncOp, const Level &)> body) {
  if (auto made = kernels.lookupSymbol<func::FuncOp>(name))
    return made;
  OpBuilder builder = OpBuilder::atBlockEnd(kernels.getBody());
  Location loc = builder.getUnknownLoc();
  auto type = builder.getFunctionType(inputs, {});
  auto declaration = func::FuncOp::create(builder, loc, name, type);
  declaration.setPrivate();
  for (const Level &level : levels(fp32Products(kernels))) {
    builder.setInsertionPointToEnd(kernels.getBody());
    auto function = func::FuncOp::create(builder, loc, variantName(name, level), type);
    builder.setInsertionPointToStart(function.addEntryBlock());
    body(builder, function, level);
    func::ReturnOp::create(builder, loc);
  }
  return declaration;
}
