// Syntax shared by the project's dialects.
#pragma once

#include "mlir/IR/OpImplementation.h"

#include <string>

namespace trainc {

/// Returns the longest prefix of `text` that is an unsigned number: digits[.digits][e[+-]digits].
llvm::StringRef numberPrefix(llvm::StringRef text);
/// The same for a text that ends with 0. Reads no character beyond the number and the word that it is part
/// of.
llvm::StringRef numberPrefix(const char *text);

/// Returns the text from `at` to the end of its line. The text ends with 0.
llvm::StringRef restOfLine(const char *at);

/// Parses a number in any usual notation: `1`, `0.1`, `6e-4`, `-2.5E3`, `-inf`. MLIR's own parser accepts
/// only `1.0` and `6.0e-4`.
mlir::ParseResult parseNumber(mlir::AsmParser &parser, double &value);

/// Parses a number into an f64 attribute: the custom directive `Number`.
mlir::ParseResult parseNumber(mlir::OpAsmParser &parser, mlir::FloatAttr &value);
void printNumber(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::FloatAttr value);

/// Parses a whole number from `min` to `max` as an i64 attribute: the custom directive `Whole`. MLIR's own
/// parser reads 2^64 - 1 as -1, and `true` as 1.
mlir::ParseResult parseWhole(mlir::OpAsmParser &parser, mlir::IntegerAttr &value, int64_t min = INT64_MIN,
                             int64_t max = INT64_MAX);
void printWhole(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::IntegerAttr value,
                int64_t min = INT64_MIN, int64_t max = INT64_MAX);
/// Says that a whole number is not from `min` to `max`; all are texts.
std::string describeOutOfRange(const llvm::Twine &min, const llvm::Twine &max, const llvm::Twine &found);

/// Parses a whole number, as above.
mlir::ParseResult parseWhole(mlir::AsmParser &parser, int64_t &value, int64_t min = INT64_MIN,
                             int64_t max = INT64_MAX);

/// Parses `[2, 0, -1]`: the custom directive `Wholes`.
mlir::ParseResult parseWholes(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &values);
void printWholes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::DenseI64ArrayAttr values);

/// Parses `[1, 0.5, 2e-3]`: the custom directive `Numbers`.
mlir::ParseResult parseNumbers(mlir::AsmParser &parser, mlir::DenseF64ArrayAttr &values);
void printNumbers(mlir::AsmPrinter &printer, llvm::ArrayRef<double> values);
void printNumbers(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::DenseF64ArrayAttr values);

/// Returns the shortest text that parses to the same value; also for messages.
std::string formatNumber(double value);
void printNumber(mlir::AsmPrinter &printer, double value);

/// Rounds a setting to f32, in which steps use it; infinite beyond f32's range.
float inF32(double value);
/// Formats `value` for a message, with its f32 value if that matters: "1e-60, which is 0 in f32".
std::string formatInF32(double value);

/// Parses `"config.json" {...}` into `exports`. Fails with an error at `loc` if the file is given twice.
mlir::ParseResult parseExport(mlir::AsmParser &parser, llvm::SMLoc loc, mlir::NamedAttrList &exports);
void printExport(mlir::AsmPrinter &printer, mlir::NamedAttribute file);
/// Verifies that every file has a plain name that no other file of a checkpoint has. `exports` may be null.
llvm::LogicalResult verifyExports(mlir::Operation *op, mlir::DictionaryAttr exports);

/// Parses `attributes {...}`, or nothing. Fails if an attribute that the op declares has another type, which
/// MLIR would drop.
mlir::ParseResult parseAttributes(mlir::OpAsmParser &parser, mlir::OperationState &state);
/// Verifies that each parsed attribute that the op declares has the declared type.
mlir::ParseResult checkAttributes(mlir::OpAsmParser &parser, mlir::OperationState &state);

/// Joins `path` and `name` with a dot; either may be empty.
std::string joinPath(llvm::StringRef path, llvm::StringRef name);

/// Returns the element of `names` that is closest to `name` in spelling; empty if none is close.
llvm::StringRef nearestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> names);

/// Parser hook for an op that the dialect does not have: reports an error at the op with the closest op name.
mlir::ParseResult reportUnknownOp(mlir::OpAsmParser &parser, mlir::OperationState &state);

} // namespace trainc
