#include "dialects/Train/Settings.h"

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
