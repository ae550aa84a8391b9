#include "lib/Codegen/Levels.h"

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

std::string trainc::codegen::variantName(llvm::StringRef name, const Level &level) {
  return (name + "." + level.name).str();
}
