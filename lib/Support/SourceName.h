// Names of ops for messages: where in the user's model an op comes from.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace trainc {

/// The scope path and kind of an op, e.g. "h.3.attn.c_attn: nn.matmul", or the kind alone where no scope is
/// known. A kernel's ops follow, with their lines: "fc1: nn.kernel (nn.add at line 4, nn.gelu at line 5)".
std::string sourceName(mlir::Operation *op);

/// The first name of a location ("h.3.attn.c_attn"), or "".
llvm::StringRef scopeName(mlir::Location loc);

/// The location of an op that the backward computes again, from the forward's.
mlir::Location recomputedLoc(mlir::Location loc);
/// Whether the op of that location is computed a second time.
bool isRecomputed(mlir::Location loc);

/// The first file position inside a location, or null.
mlir::FileLineColLoc fileLocation(mlir::Location loc);

} // namespace trainc
