#include "dialects/Interfaces/Enums.h"

#include "base/nearest_word.h"
#include "plan/facts/scalars.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

#include "dialects/Interfaces/Enums.cpp.inc"

namespace trainc {

ScalarDirection directionOf(HostScalar scalar) {
  return ScalarDirection(kScalarTraits[size_t(scalar)].direction);
}

RankedTensorType typeOf(HostScalar scalar, MLIRContext *context) {
  const fb::DType dtype = kScalarTraits[size_t(scalar)].dtype;
  Builder builder(context);
  Type element = builder.getF32Type();
  if (dtype != fb::DType::F32)
    element = dtype == fb::DType::I64 ? builder.getI64Type() : builder.getI32Type();
  return RankedTensorType::get({}, element);
}

/// Returns all words of an enum, for messages.
template <typename Enum> static std::vector<std::string> wordsOf(StringRef (*word)(Enum), uint32_t last) {
  std::vector<std::string> words;
  for (uint32_t value = 0; value <= last; ++value)
    words.push_back(word(Enum(value)).str());
  return words;
}

/// Parses `@name` or `@name as word`. Fails if the word is no case of the enum.
template <typename Enum>
static FailureOr<Enum> parseNameOf(OpAsmParser &parser, StringAttr &name, StringRef what,
                                   StringRef (*word)(Enum), std::optional<Enum> (*find)(StringRef),
                                   uint32_t last) {
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseSymbolName(name))
    return failure();
  StringRef said = name.getValue();
  if (succeeded(parser.parseOptionalKeyword("as"))) {
    where = parser.getCurrentLocation();
    if (parser.parseKeyword(&said))
      return failure();
  }
  if (std::optional<Enum> found = find(said))
    return *found;
  return parser.emitError(where) << "kind of " << what << " (`@" << name.getValue()
                                 << " as KIND`): " << describeUnknownWord(said, wordsOf(word, last));
}

ParseResult parseEntryName(OpAsmParser &parser, StringAttr &name, EntryKindAttr &kind) {
  FailureOr<EntryKind> found =
      parseNameOf(parser, name, "entry", stringifyEntryKind, symbolizeEntryKind, getMaxEnumValForEntryKind());
  if (failed(found))
    return failure();
  kind = EntryKindAttr::get(parser.getContext(), *found);
  return success();
}

/// Prints ` @name`, and ` as word` if the word differs from the name.
static void printNameOf(OpAsmPrinter &printer, StringAttr name, StringRef word) {
  printer.printSymbolName(name);
  if (name != word)
    printer << " as " << word;
}

void printEntryName(OpAsmPrinter &printer, Operation *, StringAttr name, EntryKindAttr kind) {
  printNameOf(printer, name, stringifyEntryKind(kind.getValue()));
}

ParseResult parseStateName(OpAsmParser &parser, StringAttr &name, HostScalarAttr &scalar) {
  StringRef direction;
  SMLoc where = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&direction)))
    return parser.parseSymbolName(name);
  FailureOr<HostScalar> found = parseNameOf(parser, name, "scalar", stringifyHostScalar, symbolizeHostScalar,
                                            getMaxEnumValForHostScalar());
  if (failed(found))
    return failure();
  if (StringRef expected = stringifyScalarDirection(directionOf(*found)); direction != expected)
    return parser.emitError(where) << "the scalar " << stringifyHostScalar(*found) << " goes " << expected
                                   << ", found '" << direction << "'";
  scalar = HostScalarAttr::get(parser.getContext(), *found);
  return success();
}

void printStateName(OpAsmPrinter &printer, Operation *, StringAttr name, HostScalarAttr scalar) {
  if (!scalar)
    return printer.printSymbolName(name);
  printer << stringifyScalarDirection(directionOf(scalar.getValue())) << " ";
  printNameOf(printer, name, stringifyHostScalar(scalar.getValue()));
}

} // namespace trainc
