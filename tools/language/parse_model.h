// A model's text, parsed with messages for authors of models.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace trainc {

/// Parses and verifies the main buffer of `sources`. Null after an error, which was reported. MLIR's parser
/// speaks of its own notions (SSA names, attributes, dialects); each of its messages becomes one that says
/// what was expected and found in terms of the model language, and what to do.
mlir::OwningOpRef<mlir::ModuleOp> parseModel(llvm::SourceMgr &sources, mlir::MLIRContext &context);

} // namespace trainc
