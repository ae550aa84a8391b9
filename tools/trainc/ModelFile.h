// The text of a model.
#pragma once

#include "runtime/base/status.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace trainc {

/// The file's text; "-" is standard input. Fails where it is no regular file, or larger than any model.
Result<std::unique_ptr<llvm::MemoryBuffer>> readModel(const std::string &path);

} // namespace trainc
