// What names may be made of.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace trainc {

bool isUtf8(llvm::StringRef text);

/// UTF-8 without control characters, and something at all: what plans, checkpoints and messages can quote.
bool isPlainText(llvm::StringRef text);

} // namespace trainc
