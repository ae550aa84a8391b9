// The text of a model, read before MLIR parses it.
#pragma once

#include "runtime/base/status.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace trainc {

/// The file's text; "-" is standard input. Fails where it is no regular file, or larger than any model.
Result<std::unique_ptr<llvm::MemoryBuffer>> readModel(const std::string &path);

/// Fails, with the position, where brackets are nested deeper than the parser, which recurses, has stack for.
Status checkNesting(llvm::MemoryBufferRef text);

} // namespace trainc
