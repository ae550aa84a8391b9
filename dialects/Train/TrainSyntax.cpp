// Syntax shared by the settings of train.program: numbers in parentheses, choices and bytes.
#include "dialects/Train/TrainSyntax.h"

#include "base/nearest_word.h"
#include "base/units.h"
#include "dialects/NN/Syntax.h"
#include "dialects/Train/ProgramSettings.h"
#include "plan/settings/lists.h"
#include "plan/settings/sizes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

/// Returns the text at `loc` up to a blank or one of `ends`, or a text in quotes, as it is written.
static StringRef writtenAt(SMLoc loc, StringRef ends) {
  const StringRef rest = restOfLine(loc.getPointer());
  if (rest.starts_with("\""))
    return rest.take_front(rest.find('"', 1) + 1); // npos + 1 is 0
  return rest.take_until([&](char each) { return llvm::isSpace(each) || ends.contains(each); });
}

ParseResult trainc::train::refuseSign(AsmParser &parser, StringRef word) {
  const SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalEqual()) && failed(parser.parseOptionalColon()) &&
      failed(parser.parseOptionalLParen()))
    return success();
  // The number in `(max_norm = 1.0)`.
  const StringRef rest = restOfLine(parser.getCurrentLocation().getPointer());
  const StringRef inner =
      *loc.getPointer() == '('
          ? rest.take_until([](char each) { return StringRef(",)}\n").contains(each); }).trim()
          : "";
  const StringRef last = inner.substr(inner.find_last_of(" =:") + 1); // npos + 1 is 0
  const StringRef value = inner.empty() ? writtenAt(parser.getCurrentLocation(), ",)}") : last;
  return parser.emitError(loc) << "expected the value of '" << word << "', found '" << *loc.getPointer()
                               << "'; write `" << word << " " << (value.empty() ? "VALUE" : value) << "`";
}

static ParseResult parseField(AsmParser &parser, StringRef what, MutableArrayRef<NumberField> fields) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  auto *field = llvm::find_if(fields, [&](NumberField &each) { return each.word == word; });
  if (field == fields.end()) {
    std::vector<std::string> words;
    for (NumberField &known : fields)
      words.push_back(known.word.str());
    const std::string nearest = findNearest(word, words);
    return parser.emitError(loc) << "'" << what << "' has no setting '" << word << "'; "
                                 << (nearest.empty() ? "it has " + listWords(words)
                                                     : "did you mean '" + nearest + "'?");
  }
  if (field->isSet)
    return parser.emitError(loc) << "'" << word << "' of '" << what << "' is given twice";
  field->isSet = true;
  if (refuseSign(parser, word))
    return failure();
  return parseNumber(parser, *field->value);
}

ParseResult trainc::train::parseNumbers(AsmParser &parser, StringRef what,
                                        MutableArrayRef<NumberField> fields) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen,
                                        [&] { return parseField(parser, what, fields); });
}

void trainc::train::printNumbers(AsmPrinter &printer, ArrayRef<NumberField> fields) {
  const char *separator = "(";
  for (const NumberField &field : fields) {
    if (!field.isSet)
      continue;
    printer << separator << field.word << " ";
    printNumber(printer, *field.value);
    separator = ", ";
  }
  if (*separator == ',')
    printer << ")";
}

/// Parses a word, in quotes if it has dashes: `"h100-sxm"`.
static StringAttr parseWord(OpAsmParser &parser, const Setting &setting) {
  const SMLoc loc = parser.getCurrentLocation();
  std::string quoted;
  StringRef value;
  if (succeeded(parser.parseOptionalString(&quoted)))
    value = quoted;
  else if (parser.parseKeyword(&value))
    return {};
  if (quoted.empty() && *value.end() == '-') {
    const StringRef written = writtenAt(loc, "}");
    parser.emitError(loc) << "expected a word in quotes, as it has dashes, found " << written << "; write `"
                          << StringRef(setting.name) << " \"" << written << "\"`";
    return {};
  }
  return parser.getBuilder().getStringAttr(value);
}

/// Parses a quoted list: `"x86-64-v3, x86-64-v4"`.
static StringAttr parseList(OpAsmParser &parser, const Setting &setting) {
  SMLoc loc = parser.getCurrentLocation();
  std::string value;
  if (parser.parseOptionalString(&value)) {
    InFlightDiagnostic error = parser.emitError(loc);
    error << "expected a list in quotes, such as " << StringRef(setting.name) << " \""
          << (setting.kind == ValueKind::Words ? setting.words().back() : std::string(setting.defaultValue))
          << "\"";
    if (const StringRef written = writtenAt(loc, "}"); !written.empty())
      error << ", found " << written << "; write `" << StringRef(setting.name) << " \"" << written << "\"`";
    return {};
  }
  if (const std::string problem = tidyList(setting, value); !problem.empty()) {
    parser.emitError(loc) << StringRef(setting.name) << ": " << problem;
    return {};
  }
  return parser.getBuilder().getStringAttr(value);
}

/// Parses a size, such as `16GiB`.
static ParseResult parseBytes(OpAsmParser &parser, const Setting &setting, IntegerAttr &value) {
  // Only the first five are valid. The others are known for a better error than that for an unknown word.
  static constexpr StringRef kUnits[] = {"B",  "KiB", "MiB", "GiB", "TiB", "KB", "MB",
                                         "GB", "TB",  "K",   "M",   "G",   "T"};
  const SMLoc loc = parser.getCurrentLocation();
  int64_t whole = 0;
  double real = 0;
  const OptionalParseResult isWhole = parser.parseOptionalInteger(whole);
  if (isWhole.has_value() ? failed(*isWhole) : failed(parser.parseFloat(real)))
    return failure();
  const SMLoc unitLoc = parser.getCurrentLocation();
  // A double would round, so the digits are read again.
  const StringRef number =
      StringRef(loc.getPointer(), size_t(unitLoc.getPointer() - loc.getPointer())).take_while([](char each) {
        return llvm::isAlnum(each) || StringRef("+-.").contains(each);
      });
  const auto min = double(setting.isMemory() ? kPlainBytes : setting.min); // without a unit
  // The lexer splits `1e9` into two tokens.
  const StringRef written = numberPrefix(loc.getPointer());
  if (written.size() > number.size())
    return parser.emitError(loc) << "expected " << StringRef(kExpectedBytes) << ", found " << written
                                 << inPlainDigits(written, min, double(setting.max));
  StringRef unit;
  if (succeeded(parser.parseOptionalKeyword(&unit, kUnits)))
    if (const StringRef meant = meantUnit(unit); !meant.empty())
      return parser.emitError(unitLoc) << "expected KiB, MiB, GiB or TiB (powers of 1024), found " << unit
                                       << "; write " << number << meant;
  const std::optional<int64_t> bytes = bytesOf(number, unit);
  if (!bytes)
    return parser.emitError(loc) << "expected " << StringRef(kExpectedBytes) << ", found " << number << unit
                                 << inPlainDigits(number, min, double(setting.max));
  if (const std::string problem = setting.isMemory() ? findMissingUnit(number, unit, *bytes) : "";
      !problem.empty())
    return parser.emitError(loc) << problem;
  value = parser.getBuilder().getI64IntegerAttr(*bytes);
  return success();
}

/// Parses a decimal number and returns its digits as they are written.
static StringAttr parseFraction(OpAsmParser &parser) {
  const SMLoc loc = parser.getCurrentLocation();
  int64_t whole = 0;
  double real = 0;
  const OptionalParseResult isWhole = parser.parseOptionalInteger(whole);
  if (isWhole.has_value() ? failed(*isWhole) : failed(parser.parseFloat(real)))
    return {};
  return parser.getBuilder().getStringAttr(numberPrefix(loc.getPointer()));
}

Attribute trainc::train::parseValue(OpAsmParser &parser, const Setting &setting) {
  const SMLoc loc = parser.getCurrentLocation();
  Attribute value;
  if (setting.isList()) {
    value = parseList(parser, setting); // quoted, because names may contain dashes
  } else if (setting.kind == ValueKind::Choice) {
    value = parseWord(parser, setting);
  } else {
    if (std::string quoted; succeeded(parser.parseOptionalString(&quoted))) {
      parser.emitError(loc) << "expected a number without quotes, found \"" << quoted << "\"; write `"
                            << StringRef(setting.name) << " " << quoted << "`";
      return {};
    }
    if (setting.kind == ValueKind::Fraction) {
      value = parseFraction(parser);
      return value && succeeded(checkValue(setting, value, [&] { return parser.emitError(loc); }))
                 ? value
                 : Attribute();
    }
    IntegerAttr number;
    if (setting.kind == ValueKind::Bytes ? parseBytes(parser, setting, number) : parseWhole(parser, number))
      return {};
    value = number;
  }
  const bool isValid = value && succeeded(checkValue(setting, value, [&] { return parser.emitError(loc); }));
  return isValid ? value : Attribute();
}

void trainc::train::printValue(OpAsmPrinter &printer, const Setting &setting, Attribute value) {
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    printer << (setting.isMemory() ? writtenBytes(number.getInt()) : std::to_string(number.getInt()));
    return;
  }
  auto text = cast<StringAttr>(value);
  if (setting.isList() || text.getValue().contains('-')) // has characters that MLIR keywords cannot have
    printer << text;
  else
    printer << text.getValue();
}
