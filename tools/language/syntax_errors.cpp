#include "tools/language/syntax_errors.h"

#include "dialects/NN/ForeignOps.h"
#include "dialects/NN/Syntax.h"
#include "tools/common/option_homes.h"
#include "tools/language/op_reference.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace trainc {

namespace {

constexpr StringRef kLine = "a line such as `%y = nn.gelu %x`";

/// Part of a message of MLIR's parser, the model language's name for what it expects, and advice.
struct Phrase {
  StringRef mlir, expected, advice = "";
};

constexpr Phrase kPhrases[] = {
    {"expected SSA operand", "a value, which begins with %"},
    {"expected valid ssa identifier", "the name of a result, which begins with %"},
    {"expected '=' after SSA name", "`=` and an op after the names of results"},
    {"expected integer number of results", "`=` after the names of results", "commas separate them"},
    {"expected attribute value", "a name or a number"},
    {"invalid kind of attribute", "a name in quotes"},
    {"integer literal not valid", "a name in quotes"},
    {"expected string", "a name in quotes"},
    {"expected constant integer or floating point", "a number"},
    {"floating point value not valid", "a whole number"},
    {"expected floating point literal", "a number", "a blank stands before it, as in `lr 1e-3`"},
    {"expected integer value", "a whole number"},
    {"integer value too large", "a whole number from -9223372036854775808 to 9223372036854775807"},
    {"expected attribute name", "the name of a setting", "settings in braces are `{name = value}`"},
    {"in attribute dictionary", "`,` or `}`", "settings in braces are `{name = value}`"},
    {"'@'-identifier", "a name that begins with @"},
    {"in argument list", "`(` and columns or values, as in `nn.model @m(%x: tensor<?x784xf32>)`"},
    {"expected valid keyword", "a word", "settings are written as `name number`, such as `lr 1e-3`"},
    {"expected ')'", "`,` or `)`", "commas separate settings and values"},
    {"unregistered dialect", kLine},
};

/// Parts of messages about types.
constexpr StringRef kTypePhrases[] = {"function type",  "tensor type",     "dimension",    "expected type",
                                      "tensor element", "type identifier", "symbol alias", "expected '>'"};

/// Characters without a meaning in the language, and their likely intent.
struct Stranger {
  StringRef characters, advice;
};

constexpr Stranger kStrangers[] = {
    {";", "lines end without it"},
    {"#", "comments begin with //"},
    {"'`\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb", "names of layers are in double quotes: \"up\""},
    {"\u2010\u2011\u2012\u2013\u2014\u2212", "a minus is the character '-'"},
    {"\u00d7\u2715", "sizes are written with the letter x, as in `batch 8 x 64`"},
    {"\u00a0\u2002\u2003\u2009\u202f\u200b", "it looks like a blank; write a blank"},
    {"\ufeff", "it is a byte-order mark; save the file as UTF-8 without one"},
};

std::string expectedFound(const Twine &expected, const TextPosition &position, const Twine &advice = "") {
  const std::string suffix = advice.str();
  return ("expected " + expected + ", found " + position.describe() + (suffix.empty() ? "" : "; " + suffix))
      .str();
}

std::string explainStranger(const TextPosition &position) {
  std::string text = position.describe() + " has no meaning here";
  for (const Stranger &each : kStrangers)
    if (each.characters.contains(position.token()))
      return (text + "; " + each.advice).str();
  return text;
}

bool isWord(StringRef token) { return !token.empty() && (llvm::isAlpha(token[0]) || token[0] == '_'); }

/// Advice on a word in place of a value or a name.
std::string adviceOnWord(const Phrase &phrase, const TextPosition &position) {
  const StringRef word = position.token();
  if (!isWord(word) || position.isAfterLine())
    return phrase.advice.str();
  if (phrase.expected.starts_with("a value") && llvm::is_contained(position.valuesBefore(), word))
    return ("did you mean '%" + word + "'?").str();
  if (phrase.expected == "a name in quotes")
    return ("did you mean \"" + word + "\"?").str();
  if (phrase.expected == "a name or a number")
    return ("names are written \"" + word + "\" or @" + word).str();
  if (phrase.expected == "a number")
    return "numbers are written in digits, as in 1e-3";
  return phrase.advice.str();
}

std::string explainUnknownValue(const TextPosition &position) {
  const StringRef name = position.token().drop_front();
  const StringRef nearest = nearestName(name, position.valuesBefore());
  const bool isNear = !nearest.empty() && nearest != name;
  return ("no value '%" + name + "' is defined before this; " +
          (isNear
               ? "did you mean '%" + nearest + "'?"
               : Twine(
                     "values are seen where they are defined, in one block or model, from the next line on")))
      .str();
}

/// Explains a word after an op that is none of the words of its syntax; nothing if the op is unknown, or has
/// the word elsewhere.
std::optional<std::string> explainClause(const TextPosition &position) {
  const StringRef line = position.before(), word = position.token();
  const StringRef name = (line.starts_with("%") ? line.split('=').second : line).ltrim().split(' ').first;
  const OpReference *op = findOpReference(name);
  if (!op || op->clauses.empty() || llvm::is_contained(op->clauses, word))
    return std::nullopt;
  const std::vector<StringRef> clauses(op->clauses.begin(), op->clauses.end());
  const StringRef nearest = nearestName(word, clauses);
  return ("'" + word + "' is not a word of " + name + "; " +
          (nearest.empty() ? "it has " + llvm::join(clauses, ", ")
                           : ("did you mean '" + nearest + "'?").str()))
      .str();
}

/// Explains a word in train.program that is an option, or known from other programs; nothing for others.
std::optional<std::string> explainForeignWord(StringRef message, const TextPosition &position) {
  const bool isLine = message.starts_with("unknown word '");
  if ((!isLine && !message.contains("' has no setting '")) || message.contains("; write `"))
    return std::nullopt;
  const StringRef word =
      position.rest().take_while([](char each) { return llvm::isAlnum(each) || each == '_' || each == '-'; });
  const std::optional<std::string> home = homeOutsideProgram(
      word, position.rest().drop_front(word.size()).ltrim(' ').take_while(isWordCharacter));
  if (!home)
    return std::nullopt;
  const std::string what =
      isLine ? ("'" + word + "' is not a setting").str() : message.split(';').first.str();
  return what + "; " + *home;
}

/// Explains a value in train.program that other programs give to a setting of the same name, such as
/// `offload "nvme"`; nothing for others.
std::optional<std::string> explainForeignValue(StringRef message) {
  const auto [setting, expected] = message.split(": expected ");
  const StringRef value = expected.split(", found '").second.split('\'').first;
  const auto home = value.empty() ? std::nullopt : homeOfForeignValue(setting, value);
  return home ? std::optional((message.split("; did you mean").first + "; " + *home).str()) : std::nullopt;
}

/// Explains a word in place of an op.
std::string explainWord(const TextPosition &position, MLIRContext &context) {
  const StringRef word = position.token();
  const bool isOpExpected = position.isFirstOfLine() || position.before().ends_with("=");
  if (const auto clause = isOpExpected ? std::nullopt : explainClause(position))
    return *clause;
  if (!isOpExpected)
    return ("'" + word + "' has no meaning here; it is misspelt, or a word before it is missing").str();
  if (position.after().starts_with("=") || position.after().starts_with(","))
    return ("expected " + kLine + ", found '" + word + "'; values begin with %: did you mean '%" + word +
            "'?")
        .str();
  if (const StringRef advice = adviceOnForeignOp(word); !advice.empty())
    return ("'" + word + "' is not an op; " + advice).str();
  std::vector<StringRef> names; // with and without their dialects
  for (RegisteredOperationName op : context.getRegisteredOperations())
    if (StringRef dialect = op.getDialectNamespace(); dialect == "nn" || dialect == "train")
      names.push_back(op.getStringRef());
  std::vector<StringRef> plain;
  for (StringRef name : names)
    plain.push_back(name.split('.').second);
  const StringRef known = word.contains('.') ? nearestName(word, names) : nearestName(word, plain);
  if (known.empty())
    return ("'" + word + "' is not an op; docs/reference/ops.md lists all ops").str();
  const StringRef op = word.contains('.') ? known : names[llvm::find(plain, known) - plain.begin()];
  return ("'" + word + "' is not an op; did you mean '" + op + "'?").str();
}

/// Explains a token that cannot continue or begin a line.
std::string explainLine(const TextPosition &position) {
  const StringRef token = position.token();
  if (token == "}" && position.isOutsideBraces())
    return "'}' closes nothing; remove it, or look for a '{' that is missing before";
  if (position.isFirstOfLine())
    return ("expected " + kLine + ", found '" + token + "'").str();
  return expectedFound(
      "the end of the line", position,
      token == "=" ? "values begin with %, as in `%y = nn.gelu %x`"
                   : "a word is missing or unknown here, such as `to` in `nn.linear \"up\" %x to 256`");
}

/// Explains `.5`, which the lexer takes for the beginning of `...`; its error is after the point.
std::string explainPoint(const TextPosition &position) {
  const StringRef digits = position.rest().take_while(llvm::isDigit);
  if (digits.empty())
    return "'.' has no meaning here; numbers begin with a digit";
  return ("expected a number that begins with a digit, found '." + digits + "'; write 0." + digits).str();
}

/// Explains `1e3` in place of a whole number, of which the lexer reads the 1; or an exponent with a
/// typographic minus.
std::optional<std::string> explainExponent(const TextPosition &position) {
  const StringRef digits = position.attachedNumber(), word = position.token();
  if (digits.empty() || word.empty() || llvm::toLower(word[0]) != 'e')
    return std::nullopt;
  const StringRef rest = position.rest().drop_front();
  if (word.size() == 1 && !rest.empty() && !llvm::isASCII(rest[0]))
    return explainStranger(TextPosition(position.rest(), 1));
  unsigned exponent = 0;
  if (word.drop_front().getAsInteger(10, exponent) || exponent > 18)
    return std::nullopt;
  return ("expected a whole number, found '" + digits + word + "'; write " + digits +
          std::string(exponent, '0'))
      .str();
}

/// Explains `batch 8, 64`, `batch 8 * 64`, `batch 8x64`.
std::optional<std::string> explainBatch(const TextPosition &position) {
  StringRef first = position.before();
  if (!first.consume_front("batch ") || !llvm::all_of(first.trim(), llvm::isDigit))
    return std::nullopt;
  const StringRef token = position.token();
  const bool isSeparator = llvm::is_contained(ArrayRef<StringRef>{",", "*", "/", "\u00d7"}, token);
  const bool isAttached = token.size() > 1 && token.starts_with("x");
  if (!isSeparator && !isAttached)
    return std::nullopt;
  const StringRef second = isAttached ? token.drop_front() : position.after();
  const bool isNumber = !second.empty() && llvm::all_of(second, llvm::isDigit);
  return expectedFound("`x` with blanks around it between the sizes", position,
                       "write `batch " + first.trim() + " x " + (isNumber ? second : "64") + "`");
}

std::string explainType(const TextPosition &position) {
  constexpr std::pair<StringRef, StringRef> kElements[] = {
      {"float32", "f32"}, {"float", "f32"}, {"fp32", "f32"},  {"float64", "f64"}, {"double", "f64"},
      {"int32", "i32"},   {"int", "i32"},   {"int64", "i64"}, {"long", "i64"},    {"bool", "i1"}};
  for (const auto &[other, own] : kElements)
    if (position.token() == other)
      return ("expected the type of an element, found '" + other + "'; did you mean '" + own + "'?").str();
  return expectedFound("a type, such as tensor<?x784xf32> or tensor<?xi32>", position);
}

/// Explains `operation defines 2 results but was provided 1 to bind`.
std::string explainResults(StringRef message, const TextPosition &position) {
  const StringRef results = message.split("defines ").second.split(' ').first;
  const StringRef names = message.split("provided ").second.split(' ').first;
  const StringRef op = position.after().split('=').second.trim().split(' ').first;
  return ("'" + op + "' has " + results + " results, found names for " + names +
          "; each result gets a name, also one that is not needed")
      .str();
}

/// Explains messages of the parser itself and of parser helpers that ops use.
std::string explainPhrase(StringRef message, const TextPosition &position, bool isOfOp) {
  if (llvm::any_of(kTypePhrases, [&](StringRef phrase) { return message.contains(phrase); }))
    return explainType(position);
  for (const Phrase &phrase : kPhrases)
    if (message.contains(phrase.mlir))
      return expectedFound(phrase.expected, position, adviceOnWord(phrase, position));
  if (message.consume_front("expected '"))
    return expectedFound("`" + message.take_front(message.find('\'')) + "`", position);
  return isOfOp ? message.str() : explainStranger(position);
}

std::string explainAt(StringRef message, const TextPosition &position, MLIRContext &context) {
  const bool isOfOp = message.consume_front("custom op '");
  const StringRef op = isOfOp ? message.split("' ").first : "";
  message = isOfOp ? message.split("' ").second : message;
  const auto has = [&](StringRef phrase) { return message.contains(phrase); };
  if (auto batch = explainBatch(position))
    return *batch;
  if (auto exponent = explainExponent(position))
    return *exponent;
  if (auto foreign = isOfOp ? explainForeignWord(message, position) : std::nullopt)
    return *foreign;
  if (auto foreign = isOfOp ? explainForeignValue(message) : std::nullopt)
    return *foreign;
  if (has("unexpected character") || has("invalid attribute name") || has("invalid block name"))
    return explainStranger(position);
  if (has("(tried '") || has("not found for custom op"))
    return explainWord(position, context);
  if (isOfOp && (message.starts_with("is unknown") || message.starts_with("has no setting ")))
    return ("'" + op + "' " + message).str();
  if (has("expected operation name in quotes"))
    return explainLine(position);
  if (has("use of undeclared SSA value name"))
    return explainUnknownValue(position);
  if (has("consecutive dots"))
    return explainPoint(position);
  if (has("in string literal"))
    return "expected '\"' at the end of a text in quotes, found the end of the line";
  if (isOfOp && has("clause can appear at most once")) // `word` clause ...
    return ("'" + message.split('`').second.split('`').first + "' is given twice").str();
  if (has("duplicate key '"))
    return ("'" + message.split("duplicate key '").second.split("' in ").first + "' is given twice").str();
  if (has("redefinition of SSA value"))
    return ("'" + position.token() + "' is defined already; give this result another name").str();
  if (has("expects different type"))
    return ("the type after ':' is not that of " + position.describe() +
            "; leave it out, types of results are inferred");
  if (has("operation defines "))
    return explainResults(message, position);
  return explainPhrase(message, position, isOfOp);
}

/// Explains `'nn.linear' op attribute 'features' failed to satisfy constraint: 64-bit signless integer
/// attribute`.
std::string explainConstraint(StringRef message) {
  const auto [op, setting] = message.split(" op attribute ");
  const StringRef kind = message.contains("integer")  ? "a whole number"
                         : message.contains("float")  ? "a number"
                         : message.contains("string") ? "a name in quotes"
                                                      : "of another kind";
  return (op + " op " + setting.split(" failed").first + " must be " + kind).str();
}

} // namespace

std::optional<std::string> explainVerifierError(StringRef message) {
  if (message.contains("does not dominate this use"))
    return "a value is read before the line that defines it; move that line up";
  if (message.contains("failed to satisfy constraint"))
    return explainConstraint(message);
  return std::nullopt;
}

SyntaxError explainSyntaxError(StringRef message, const TextPosition &position, MLIRContext &context) {
  if (const auto unclosed = position.findUnclosed()) {
    const bool isAtEnd = position.isAtEnd() && unclosed->expectedBefore == position.offset();
    const StringRef found = isAtEnd ? "the end of the file" : "the next block, model or program";
    return {("expected '}', found " + found + "; nothing closes the '{' of line " + Twine(unclosed->line) +
             ", `" + unclosed->text + "`")
                .str(),
            unclosed->expectedBefore};
  }
  const std::string text = explainAt(message, position, context);
  const bool isAboutToken = !position.isAfterLine() || message.contains("expected operation name in quotes");
  return {text, isAboutToken ? std::optional(position.offset()) : std::nullopt};
}

} // namespace trainc
