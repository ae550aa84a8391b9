#include "dialects/Train/ProgramLines.h"
#include "plan/settings/settings.h"
#include "tools/language/op_reference.h"
#include "tools/language/text_position.h"
#include "tools/trainc-lsp/cursor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <array>

using llvm::StringRef;

namespace trainc {

namespace {

std::string code(const std::string &text) { return "```mlir\n" + text + "\n```\n"; }

/// The names of a line's results, with their types if they are known.
std::string resultsOf(StringRef line, unsigned number, const ModelFacts &facts) {
  const auto [results, op] = line.split('=');
  const auto types = facts.resultTypes.find(number);
  llvm::SmallVector<StringRef> names;
  results.split(names, ',');
  if (!results.trim().starts_with("%") || types == facts.resultTypes.end() ||
      types->second.size() != names.size())
    return "";
  std::string text;
  for (auto [name, type] : llvm::zip_equal(names, types->second))
    text += (text.empty() ? "" : "\n") + name.trim().str() + ": " + type;
  return code(text);
}

unsigned lineNumber(const Cursor &cursor) {
  return unsigned(cursor.text.take_front(cursor.lineOffset).count('\n')) + 1;
}

std::optional<std::string> hoverOp(const Cursor &cursor, const ModelFacts &facts) {
  const OpReference *op = findOpReference(cursor.word);
  if (!op)
    return std::nullopt;
  std::string text = resultsOf(cursor.line, lineNumber(cursor), facts);
  if (!op->syntax.empty())
    text += code(op->syntax);
  text += op->summary + "\n";
  if (!op->description.empty())
    text += "\n" + op->description + "\n";
  return text;
}

/// The line that defines the value: the last one before that has it among its results, or among the arguments
/// of the block or model.
std::optional<std::string> hoverValue(const Cursor &cursor, const ModelFacts &facts) {
  llvm::SmallVector<StringRef> lines;
  cursor.text.split(lines, '\n');
  for (unsigned number = std::min<unsigned>(lineNumber(cursor), lines.size()); number > 0; --number) {
    const StringRef line = lines[number - 1].split("//").first, trimmed = line.trim();
    const StringRef results = trimmed.split('=').first;
    const size_t at = trimmed.find((cursor.word + ":").str());
    if (!trimmed.starts_with("%") && at != StringRef::npos) { // an argument
      const StringRef declared = trimmed.substr(at);
      return code(declared.take_until([](char c) { return c == ','; }).split(")").first.str());
    }
    llvm::SmallVector<StringRef> names;
    results.split(names, ',');
    const bool defines = trimmed.starts_with("%") && trimmed.contains('=') &&
                         llvm::any_of(names, [&](StringRef name) { return name.trim() == cursor.word; });
    if (defines)
      return resultsOf(line, number, facts) + code(trimmed.str());
  }
  return std::nullopt;
}

std::optional<std::string> hoverSymbol(const Cursor &cursor) {
  for (StringRef keyword : {"nn.block", "nn.model", "train.program"})
    if (const auto heading = headingOf(cursor.text, keyword, cursor.word.drop_front()))
      return code(*heading);
  return std::nullopt;
}

/// Whether the word is in `$(...)` or on the right side of a `let`.
bool isInExpression(const Cursor &cursor) {
  const StringRef before = cursor.before();
  const bool isAfterDollar = before.contains("$(") && !before.rsplit("$(").second.contains(')');
  return isAfterDollar || before.ltrim().starts_with("let ");
}

/// The line `let name = ...`.
std::optional<std::string> hoverConstant(const Cursor &cursor, StringRef name) {
  const std::optional<StringRef> line = constantLine(cursor.text, name);
  return line ? std::optional(code(line->str())) : std::nullopt;
}

} // namespace

std::string describeSetting(const train::Setting &setting) {
  std::string text = setting.description() + "\n\nValues: `" + std::string(setting.values) + "`";
  if (setting.hasOption)
    text += "\n\nOption: `" + setting.option() + "`";
  return text;
}

std::optional<std::string> hoverAt(const TextPlace &place, const ModelFacts &facts) {
  const Cursor cursor(place);
  if (cursor.word.starts_with("%"))
    return hoverValue(cursor, facts);
  if (cursor.word.starts_with("@"))
    return hoverSymbol(cursor);
  if (cursor.word.starts_with("$"))
    return hoverConstant(cursor, cursor.word.drop_front());
  if (cursor.word.contains('.'))
    return hoverOp(cursor, facts);
  if (isInExpression(cursor))
    return hoverConstant(cursor, cursor.word);
  if (cursor.enclosing != Enclosing::Program)
    return std::nullopt;
  for (const train::ProgramLine &line : train::kProgramLines)
    if (StringRef(line.word) == cursor.word)
      return code(std::string(line.word) + " " + std::string(line.form)) + std::string(line.help) + "\n";
  const train::Setting *setting = train::findSetting(cursor.word);
  return setting ? std::optional(describeSetting(*setting) + "\n") : std::nullopt;
}

} // namespace trainc
