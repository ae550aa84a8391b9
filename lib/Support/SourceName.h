// Names of ops for messages, which refer to the user's model.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace trainc {

/// Returns the scope path and kind of an op, e.g. "h.3.attn.c_attn: nn.matmul", or the kind alone if the
/// scope is unknown. For a kernel the fused ops and their lines follow: "fc1: nn.kernel (nn.add at line 4,
/// nn.gelu at line 5)".
std::string sourceName(mlir::Operation *op);

/// Returns the first name of a location ("h.3.attn.c_attn"), or "".
llvm::StringRef scopeName(mlir::Location loc);

/// Marks a forward location as that of a recomputed op.
mlir::Location recomputedLoc(mlir::Location loc);
/// Whether the location is that of a recomputed op.
bool isRecomputed(mlir::Location loc);

/// Returns the first file position inside a location, or null.
mlir::FileLineColLoc fileLocation(mlir::Location loc);

/// Returns the source position of `loc` for a message, "gpt.mlir:12", or "" if it has none.
std::string placeText(mlir::Location loc);

} // namespace trainc
