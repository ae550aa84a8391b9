#include "lib/Codegen/Levels.h"

using namespace mlir;
using namespace trainc::codegen;

const std::vector<Level> &trainc::codegen::levels() {
  static const std::vector<Level> all = {
      {"x86-64-v3", {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"}, 4, 16},
      {"x86-64-v4",
       {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm", "avx512f", "avx512bw", "avx512cd",
        "avx512dq", "avx512vl"},
       8,
       32}};
  return all;
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
  for (const Level &level : levels()) {
    builder.setInsertionPointToEnd(kernels.getBody());
    auto function = func::FuncOp::create(builder, loc, variantName(name, level), type);
    builder.setInsertionPointToStart(function.addEntryBlock());
    body(builder, function, level);
    func::ReturnOp::create(builder, loc);
  }
  return declaration;
}
