// The instruction-set levels that every plan holds code for.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::codegen {

struct Level {
  const char *name;                  ///< as LLVM names it
  std::vector<std::string> features; ///< beyond SSE4.2, as /proc/cpuinfo names them
  /// The block of f32 sums that matrix products keep in registers; divisors of the panels' sizes (Gemm.h).
  int64_t registerRows, registerColumns;
};

const std::vector<Level> &levels();

/// A function whose code differs between levels is declared as `name` and defined once a level, as
/// variantName(name, level). Objects holds the way back.
std::string variantName(llvm::StringRef name, const Level &level);

} // namespace trainc::codegen
