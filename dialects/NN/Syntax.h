// Syntax shared by the project's dialects.
#pragma once

#include "mlir/IR/OpImplementation.h"

#include <string>

namespace trainc {

/// Parses a number as people write it: `1`, `0.1`, `6e-4`, `-2.5E3`, `-inf`. (MLIR itself insists on `1.0`
/// and `6.0e-4`.)
mlir::ParseResult parseNumber(mlir::AsmParser &parser, double &value);

/// The same as an f64 attribute: the custom directive `Number`.
mlir::ParseResult parseNumber(mlir::OpAsmParser &parser, mlir::FloatAttr &value);
void printNumber(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::FloatAttr value);

/// The shortest text that parses to the same value; for messages, too.
std::string formatNumber(double value);
void printNumber(mlir::AsmPrinter &printer, double value);

/// Settings are f64 in the text, and f32 where steps use them: `value` rounded; infinite beyond f32's range.
float inF32(double value);
/// `value` for a message, with what becomes of it where that matters: "1e-60, which is 0 in f32".
std::string formatInF32(double value);

/// `"config.json" {...}` into `exports`; a second one of a file is an error at `loc`.
mlir::ParseResult parseExport(mlir::AsmParser &parser, llvm::SMLoc loc, mlir::NamedAttrList &exports);
void printExport(mlir::AsmPrinter &printer, mlir::NamedAttribute file);
/// Every file has a plain name that no other file of a checkpoint has. No exports at all are fine.
llvm::LogicalResult verifyExports(mlir::Operation *op, mlir::DictionaryAttr exports);

/// The full name of `name` within `path`; either may be empty, and then adds nothing.
std::string joinPath(llvm::StringRef path, llvm::StringRef name);

/// The one of `names` that `name` is probably a slip of the pen for; empty if none is near.
llvm::StringRef nearestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> names);

/// The hook of a dialect for an op that it does not have: an error at the op, with the nearest of its ops.
mlir::ParseResult refuseUnknownOp(mlir::OpAsmParser &parser, mlir::OperationState &state);

} // namespace trainc
