// Check of MLIR text before it is parsed.
#pragma once

#include "llvm/Support/MemoryBufferRef.h"

#include <optional>
#include <string>

namespace trainc {

/// Finds nesting too deep for the recursive parser's stack: brackets, also through aliases, and affine
/// expressions. Returns a message with its position.
std::optional<std::string> findDeepNesting(llvm::MemoryBufferRef buffer);

} // namespace trainc
