// Syntax shared by the settings of train.program: numbers in parentheses, choices and bytes.
#include "dialects/Train/TrainSyntax.h"

#include "dialects/NN/Syntax.h"
#include "dialects/Train/Lists.h"
#include "dialects/Train/ProgramSettings.h"
#include "dialects/Train/Sizes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

std::string trainc::train::listWords(ArrayRef<StringRef> words) {
  if (words.size() < 2)
    return words.empty() ? "nothing" : words[0].str();
  return llvm::join(words.drop_back(), ", ") + " and " + words.back().str();
}

static ParseResult parseSetting(AsmParser &parser, StringRef what, MutableArrayRef<Setting> settings) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  auto *setting = llvm::find_if(settings, [&](Setting &s) { return s.word == word; });
  if (setting == settings.end()) {
    SmallVector<StringRef> words;
    for (Setting &known : settings)
      words.push_back(known.word);
    return parser.emitError(loc) << "'" << what << "' has no setting '" << word << "'; it has "
                                 << listWords(words);
  }
  if (setting->isSet)
    return parser.emitError(loc) << "'" << word << "' of '" << what << "' is given twice";
  setting->isSet = true;
  return parseNumber(parser, *setting->value);
}

ParseResult trainc::train::parseSettings(AsmParser &parser, StringRef what,
                                         MutableArrayRef<Setting> settings) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen,
                                        [&] { return parseSetting(parser, what, settings); });
}

void trainc::train::printSettings(AsmPrinter &printer, ArrayRef<Setting> settings) {
  const char *separator = "(";
  for (const Setting &setting : settings) {
    if (!setting.isSet)
      continue;
    printer << separator << setting.word << " ";
    printNumber(printer, *setting.value);
    separator = ", ";
  }
  if (*separator == ',')
    printer << ")";
}

ParseResult trainc::train::parseChoice(OpAsmParser &parser, const ProgramWord &word,
                                       NamedAttrList &attributes) {
  SMLoc loc = parser.getCurrentLocation();
  std::string quoted;
  StringRef value;
  if (succeeded(parser.parseOptionalString(&quoted))) // words with dashes, such as "h100-sxm"
    value = quoted;
  else if (parser.parseKeyword(&value))
    return failure();
  if (failed(checkChoice(word, value, [&] { return parser.emitError(loc); })))
    return failure();
  attributes.set(StringRef(word.word), parser.getBuilder().getStringAttr(value));
  return success();
}

ParseResult trainc::train::parseWords(OpAsmParser &parser, const ProgramWord &word,
                                      NamedAttrList &attributes) {
  SMLoc loc = parser.getCurrentLocation();
  std::string value;
  if (parser.parseOptionalString(&value))
    return parser.emitError(loc) << "expected words in quotes, such as " << StringRef(word.word) << " \""
                                 << choicesOf(word).back() << "\"";
  if (const std::string problem = tidyList(word, value); !problem.empty())
    return parser.emitError(loc) << StringRef(word.word) << ": " << problem;
  if (word.kind == ValueKind::Words &&
      failed(checkChoice(word, value, [&] { return parser.emitError(loc); })))
    return failure();
  attributes.set(StringRef(word.word), parser.getBuilder().getStringAttr(value));
  return success();
}

ParseResult trainc::train::parseBytes(OpAsmParser &parser, const ProgramWord &word,
                                      NamedAttrList &attributes) {
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
  StringRef unit;
  if (succeeded(parser.parseOptionalKeyword(&unit, kUnits)))
    if (const StringRef meant = meantUnit(unit); !meant.empty())
      return parser.emitError(unitLoc) << "expected KiB, MiB, GiB or TiB (powers of 1024), found " << unit
                                       << "; write " << number << meant;
  const std::optional<int64_t> bytes = bytesOf(number, unit);
  if (!bytes)
    return parser.emitError(loc) << "expected " << StringRef(kExpectedBytes) << ", found " << number << unit;
  if (const std::string problem = word.isMemory() ? findMissingUnit(number, unit, *bytes) : "";
      !problem.empty())
    return parser.emitError(loc) << problem;
  attributes.set(StringRef(word.word), parser.getBuilder().getI64IntegerAttr(*bytes));
  return success();
}
