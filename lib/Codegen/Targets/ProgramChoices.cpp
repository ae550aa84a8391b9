#include "lib/Codegen/Targets/ProgramChoices.h"

#include "dialects/Train/Train.h"
#include "plan/settings/settings.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

Fp32Products trainc::codegen::fp32ProductsOf(train::ProgramOp program) {
  switch (train::kFp32Products.of(program)) {
  case train::Fp32Arithmetic::fma:
    return Fp32Products::Fma;
  case train::Fp32Arithmetic::bf16x3:
    return Fp32Products::Bf16x3;
  case train::Fp32Arithmetic::tf32:
    return Fp32Products::Tf32;
  }
  llvm_unreachable("unknown arithmetic");
}

LibraryCalls trainc::codegen::libraryCallsOf(train::ProgramOp program) {
  using enum train::LibraryOps;
  const train::LibraryOps ops = train::kLibraryCalls.given(program).value_or(none);
  const bool gradients = ops == train::LibraryOps::attention || ops == all;
  return {.products = ops == plain || ops == train::LibraryOps::products || ops == all,
          .attention = ops == plain || gradients,
          .attentionGradients = gradients};
}
