// Parsing of numbers, joining of names, and suggestions for unknown names.
#include "dialects/NN/Syntax.h"

#include "base/nearest_word.h"
#include "base/units.h"
#include "dialects/NN/ForeignOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;

StringRef trainc::numberPrefix(StringRef text) {
  StringRef rest = text.drop_while(llvm::isDigit);
  if (rest.consume_front("."))
    rest = rest.drop_while(llvm::isDigit);
  StringRef exponent = rest;
  if (exponent.consume_front("e") || exponent.consume_front("E")) {
    if (!exponent.consume_front("-"))
      exponent.consume_front("+");
    if (!exponent.empty() && llvm::isDigit(exponent.front()))
      rest = exponent.drop_while(llvm::isDigit);
  }
  return text.drop_back(rest.size());
}

StringRef trainc::numberPrefix(const char *text) {
  const char *end = text;
  while (llvm::isAlnum(*end) || *end == '.' || *end == '+' || *end == '-')
    ++end;
  return numberPrefix(StringRef(text, static_cast<size_t>(end - text)));
}

StringRef trainc::restOfLine(const char *at) { return {at, std::strcspn(at, "\n")}; }

/// Consumes an exponent that the lexer has not read as part of a float: `e5`, or `e`, `-`, `4`.
static ParseResult consumeExponent(AsmParser &parser, StringRef number) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  int64_t digits;
  (void)parser.parseOptionalKeyword(&word);
  if (word.end() > number.end()) // more than digits after the e
    return parser.emitError(loc) << "expected an exponent, found '" << word << "'";
  if (word.size() > 1)
    return success();
  (void)parser.parseOptionalPlus();
  return parser.parseInteger(digits);
}

/// Reports an error if the value is 0 or infinite, in f64 or in f32, although its text is not.
static ParseResult checkMagnitude(AsmParser &parser, SMLoc start, StringRef text, double value) {
  bool isZero = text.take_until([](char c) { return c == 'e' || c == 'E'; }).find_first_of("123456789") ==
                StringRef::npos;
  auto error = [&] { return parser.emitError(start, "expected a number of f32, found ") << text; };
  if (std::isinf(value))
    return error() << ", which is infinite there";
  if (!isZero && trainc::inF32(value) == 0)
    return error() << ", which is 0 there; write 0, or a larger number";
  return success();
}

/// Parses an unsigned number.
static ParseResult parseMagnitude(AsmParser &parser, double &value) {
  // The lexer splits `6e-4` into four tokens. The value is therefore read from the text, and its tokens are
  // skipped.
  SMLoc start = parser.getCurrentLocation();
  APInt integer;
  if (succeeded(parser.parseOptionalKeyword("inf"))) {
    value = std::numeric_limits<double>::infinity();
    return success();
  }
  const StringRef text = trainc::numberPrefix(start.getPointer()); // texts end with 0
  if (!parser.parseOptionalInteger(integer).has_value())
    return failure(parser.parseFloat(value) || checkMagnitude(parser, start, text, value));
  if (text == "0" && *text.end() == 'x') { // bits of an infinity or NaN
    value = llvm::bit_cast<double>(integer.zextOrTrunc(64).getZExtValue());
    if (std::isfinite(value))
      return parser.emitError(start, "expected a number in decimal digits, found hexadecimal ones");
    return success();
  }
  if (parser.getCurrentLocation().getPointer() < text.end() && failed(consumeExponent(parser, text)))
    return failure();
  if (text.getAsDouble(value))
    return parser.emitError(start, "expected a number");
  return checkMagnitude(parser, start, text, value);
}

ParseResult trainc::parseNumber(AsmParser &parser, double &value) {
  bool negative = succeeded(parser.parseOptionalMinus());
  if (parseMagnitude(parser, value))
    return failure();
  value = negative ? -value : value;
  return success();
}

ParseResult trainc::parseNumber(OpAsmParser &parser, FloatAttr &value) {
  double number = 0;
  if (parseNumber(static_cast<AsmParser &>(parser), number))
    return failure();
  value = parser.getBuilder().getF64FloatAttr(number);
  return success();
}

std::string trainc::describeOutOfRange(const llvm::Twine &min, const llvm::Twine &max,
                                       const llvm::Twine &found) {
  return ("expected a whole number from " + min + " to " + max + ", found " + found).str();
}

ParseResult trainc::parseWhole(AsmParser &parser, int64_t &value, int64_t min, int64_t max) {
  const SMLoc start = parser.getCurrentLocation();
  APInt number;
  if (llvm::isAlpha(*start.getPointer())) // MLIR takes `true` for a number
    return parser.emitError(start, "expected integer value");
  const OptionalParseResult found = parser.parseOptionalInteger(number);
  if (!found.has_value()) {
    Attribute other; // if there is none, the error is at the end of the line, not at the next one
    return parser.parseAttribute(other) ? failure() : parser.emitError(start, "expected integer value");
  }
  if (failed(*found))
    return failure();
  const StringRef text = numberPrefix(start.getPointer()); // the lexer takes the 1 of 1e3 alone
  if (text.find_first_of("eE") != StringRef::npos && text.front() != '0')
    return parser.emitError(start) << "expected a whole number, found '" << text << "'"
                                   << inPlainDigits(text, double(min), double(max));
  if (number.getSignificantBits() > 64 || number.getSExtValue() < min || number.getSExtValue() > max) {
    SmallString<32> digits;
    number.toStringSigned(digits);
    return parser.emitError(start, describeOutOfRange(llvm::Twine(min), llvm::Twine(max), digits));
  }
  value = number.getSExtValue();
  return success();
}

ParseResult trainc::parseWhole(OpAsmParser &parser, IntegerAttr &value, int64_t min, int64_t max) {
  int64_t number = 0;
  if (parseWhole(static_cast<AsmParser &>(parser), number, min, max))
    return failure();
  value = parser.getBuilder().getI64IntegerAttr(number);
  return success();
}

void trainc::printWhole(OpAsmPrinter &printer, Operation *, IntegerAttr value, int64_t, int64_t) {
  printer << value.getInt();
}

ParseResult trainc::parseWholes(OpAsmParser &parser, DenseI64ArrayAttr &values) {
  SmallVector<int64_t> numbers;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseWhole(static_cast<AsmParser &>(parser), numbers.emplace_back());
      }))
    return failure();
  values = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

void trainc::printWholes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr values) {
  printer << '[' << values.asArrayRef() << ']';
}

ParseResult trainc::parseNumbers(AsmParser &parser, DenseF64ArrayAttr &values) {
  SmallVector<double> numbers;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parseNumber(parser, numbers.emplace_back()); }))
    return failure();
  values = parser.getBuilder().getDenseF64ArrayAttr(numbers);
  return success();
}

void trainc::printNumbers(AsmPrinter &printer, ArrayRef<double> values) {
  printer << " [";
  llvm::interleaveComma(values, printer.getStream(), [&](double value) { printNumber(printer, value); });
  printer << "]";
}

void trainc::printNumbers(OpAsmPrinter &printer, Operation *, DenseF64ArrayAttr values) {
  printNumbers(printer, values.asArrayRef());
}

ParseResult trainc::checkAttributes(OpAsmParser &parser, OperationState &state) {
  return state.name.verifyInherentAttrs(state.attributes, [&] {
    return parser.emitError(parser.getNameLoc()) << "'" << state.name << "' op ";
  });
}

ParseResult trainc::parseAttributes(OpAsmParser &parser, OperationState &state) {
  return failure(parser.parseOptionalAttrDictWithKeyword(state.attributes) || checkAttributes(parser, state));
}

std::string trainc::joinPath(StringRef path, StringRef name) {
  if (path.empty() || name.empty())
    return (path + name).str();
  return (path + "." + name).str();
}

std::string trainc::formatNumber(double value) {
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  if (std::isnan(value))
    return "0x" + llvm::utohexstr(llvm::bit_cast<uint64_t>(value));
  std::array<char, 32> text;
  return {text.begin(), std::to_chars(text.begin(), text.end(), value).ptr};
}

void trainc::printNumber(AsmPrinter &printer, double value) { printer << formatNumber(value); }

void trainc::printNumber(OpAsmPrinter &printer, Operation *, FloatAttr value) {
  printNumber(printer, value.getValueAsDouble());
}

float trainc::inF32(double value) {
  llvm::APFloat number(value);
  bool inexact = false;
  number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return number.convertToFloat();
}

std::string trainc::formatInF32(double value) {
  if (std::isnan(value))
    return "nan";
  std::string text = formatNumber(value);
  float rounded = inF32(value);
  if (std::isinf(rounded) && std::isfinite(value))
    return text + ", which is infinite in f32";
  if ((rounded == 0 || rounded == 1) && double(rounded) != value)
    return text + ", which is " + formatNumber(rounded) + " in f32";
  return text;
}

StringRef trainc::nearestName(StringRef name, ArrayRef<StringRef> names) {
  const auto *nearest = llvm::find(names, findNearest(name, {names.begin(), names.end()}));
  return nearest == names.end() ? StringRef() : *nearest;
}

ParseResult trainc::reportUnknownOp(OpAsmParser &parser, OperationState &state) {
  StringRef dialect = state.name.getDialectNamespace();
  SmallVector<StringRef> names;
  for (RegisteredOperationName op : parser.getContext()->getRegisteredOperations())
    if (op.getDialectNamespace() == dialect)
      names.push_back(op.stripDialect());
  InFlightDiagnostic error = parser.emitError(parser.getNameLoc(), "is unknown");
  if (StringRef advice = dialect == "nn" ? adviceOnForeignOp(state.name.stripDialect()) : ""; !advice.empty())
    return error << "; " << advice;
  StringRef nearest = nearestName(state.name.stripDialect(), names);
  if (nearest.empty())
    return error << "; docs/reference/" << (dialect == "nn" ? "ops" : dialect) << ".md lists all ops";
  return error << "; did you mean '" << dialect << "." << nearest << "'?";
}
