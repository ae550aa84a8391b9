// Text of MLIR, looked at before it is parsed.
#pragma once

#include "llvm/Support/MemoryBufferRef.h"

#include <optional>
#include <string>

namespace trainc {

/// What is nested deeper than the parser and others, which recurse, have stack for, with its position:
/// brackets, also by way of aliases, and affine expressions.
std::optional<std::string> findDeepNesting(llvm::MemoryBufferRef buffer);

} // namespace trainc
