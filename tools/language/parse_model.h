// Parser of a model's text with messages for model authors.
#pragma once

#include "tools/language/source_files.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace trainc {

/// Parses and verifies the main buffer of `sources`. Returns null after an error, which was reported. MLIR's
/// messages use MLIR's notions (SSA names, attributes, dialects); each is replaced by one in terms of the
/// model language that says what was expected and found, and what to do. Text that the parser has no stack
/// or time for, and numbers that it would change, are errors as well (text_check.h).
mlir::OwningOpRef<mlir::ModuleOp> parseModel(llvm::SourceMgr &sources, mlir::MLIRContext &context,
                                             Imports imports = Imports::Read);

} // namespace trainc
