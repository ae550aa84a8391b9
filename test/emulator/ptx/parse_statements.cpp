// Parses a function body: declarations, labels, instructions.
#include "test/emulator/ptx/parser.h"

#include <algorithm>
#include <cctype>

namespace trainc::emulator {

void Parser::parseBody() {
  expect("{");
  scopes_.emplace_back();
  for (size_t depth = 1; going() && depth > 0;) {
    if (take("{")) {
      scopes_.emplace_back();
      ++depth;
    } else if (take("}")) {
      scopes_.pop_back();
      --depth;
    } else if (token_.is(".loc") || token_.is(".file") || token_.is(".pragma")) {
      skipDirective();
    } else if (const std::optional<Space> space = takeSpace()) {
      for (Variable &variable : parseVariables(*space, /*isExtern=*/false))
        declare(std::move(variable));
      expect(";");
    } else if (!take(";")) {
      parseInstruction();
    }
  }
  if (status_.ok() && scopes_.size() > 1)
    fail("function '{}' has no end", function_->name);
}

/// Parses a label, or an instruction with its guard.
void Parser::parseInstruction() {
  Statement statement;
  statement.line = token_.line;
  const size_t begin = lexer_.position() - token_.text.size();
  if (take("@")) {
    const bool isNegated = take("!");
    statement.guard = parseName();
    statement.guard->isNegated = isNegated;
  }
  const std::string word = takeWord("an instruction");
  if (!statement.guard && take(":")) {
    if (take(".branchtargets"))
      return parseBranchTargets(word);
    if (!function_->labels.emplace(word, static_cast<uint32_t>(function_->statements.size())).second)
      fail("label '{}' stands twice", word);
    return;
  }
  size_t dot = word.find('.');
  statement.opcode = word.substr(0, dot);
  while (dot != std::string::npos) {
    const size_t next = word.find('.', dot + 1);
    statement.modifiers.push_back(word.substr(dot + 1, next - dot - 1));
    dot = next;
  }
  while (going() && !token_.is(";")) {
    statement.operands.push_back(parseOperand());
    if (!take(","))
      break;
  }
  expect(";");
  statement.text = textFrom(begin, end_);
  function_->statements.push_back(std::move(statement));
}

void Parser::parseBranchTargets(const std::string &name) {
  std::vector<std::string> &targets = function_->branchTargets[name];
  do
    targets.push_back(takeWord("a label"));
  while (take(","));
  expect(";");
}

Operand Parser::parseOperand() {
  if (take("["))
    return parseElements(Operand::Kind::kAddress, "]");
  if (take("{"))
    return parseElements(Operand::Kind::kVector, "}");
  if (take("("))
    return parseElements(Operand::Kind::kList, ")");
  if (token_.kind == Token::Kind::kNumber || token_.is("-"))
    return parseNumber();
  const bool isNegated = take("!");
  Operand operand = parseName();
  operand.isNegated = isNegated;
  if (take("|")) {
    Operand pair;
    pair.kind = Operand::Kind::kPair;
    pair.elements = {std::move(operand), parseName()};
    return pair;
  }
  return operand;
}

Operand Parser::parseElements(Operand::Kind kind, std::string_view end) {
  Operand operand;
  operand.kind = kind;
  while (going() && !token_.is(end)) {
    operand.elements.push_back(parseOperand());
    if (!take(","))
      break;
  }
  expect(end);
  return operand;
}

Operand Parser::parseNumber() {
  Operand operand;
  operand.kind = Operand::Kind::kLiteral;
  operand.literal = takeLiteral();
  return operand;
}

Operand Parser::parseName() {
  Operand operand;
  operand.name = takeWord("an operand");
  if (operand.name == "_")
    operand.kind = Operand::Kind::kSink;
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend() && !operand.variable; ++scope)
    if (const auto found = scope->find(operand.name); found != scope->end())
      operand.variable = found->second;
  if (take("+"))
    operand.displacement = static_cast<int64_t>(takeInteger());
  return operand;
}

/// The text between two positions on one line.
std::string Parser::textFrom(size_t begin, size_t end) const {
  std::string text;
  for (const char c : text_.substr(begin, end - begin)) {
    const bool isBlank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!isBlank)
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  return text;
}

} // namespace trainc::emulator
