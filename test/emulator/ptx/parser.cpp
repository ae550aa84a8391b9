// Parses modules and functions; parse_variables.cpp and parse_statements.cpp parse the rest.
#include "test/emulator/ptx/parser.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>

namespace trainc::emulator {

Result<ModuleText> parseText(std::string_view text) { return Parser(text).parseModule(); }

const FunctionText *ModuleText::find(std::string_view name) const {
  const FunctionText *found = nullptr;
  for (const auto &function : functions) // a declaration may come first
    if (function->name == name && (!found || function->hasBody))
      found = function.get();
  return found;
}

Result<ModuleText> Parser::parseModule() {
  while (going())
    parseTopLevel();
  if (!status_.ok())
    return status_;
  return std::move(module_);
}

bool Parser::take(std::string_view what) {
  if (!token_.is(what))
    return false;
  advance();
  return true;
}

void Parser::expect(std::string_view what) {
  if (!take(what))
    fail("expected '{}', found '{}'", what, token_.text);
}

std::string Parser::takeWord(std::string_view what) {
  std::string word(token_.text);
  if (token_.kind != Token::Kind::kWord)
    fail("expected {}, found '{}'", what, token_.text);
  else
    advance();
  return word;
}

Literal Parser::takeLiteral() {
  const bool isNegative = take("-");
  std::string_view digits = token_.text;
  Literal literal;
  const char *end = nullptr;
  const auto parse = [&](std::string_view number, int base) {
    const auto result = std::from_chars(number.data(), number.data() + number.size(), literal.bits, base);
    end = result.ec == std::errc() ? result.ptr : nullptr;
  };
  if (token_.kind != Token::Kind::kNumber) {
    fail("expected a number, found '{}'", digits);
    return literal;
  }
  if (digits.ends_with('U'))
    digits.remove_suffix(1);
  const std::string_view prefix = digits.substr(0, 2);
  if (prefix == "0f" || prefix == "0F" || prefix == "0d" || prefix == "0D") {
    literal.form = prefix[1] == 'f' || prefix[1] == 'F' ? Literal::Form::kFloat32 : Literal::Form::kFloat64;
    parse(digits.substr(2), 16);
  } else if (prefix == "0x" || prefix == "0X") {
    parse(digits.substr(2), 16);
  } else if (prefix == "0b" || prefix == "0B") {
    parse(digits.substr(2), 2);
  } else if (digits.find('.') != std::string_view::npos) {
    literal.form = Literal::Form::kFloat64;
    const std::string text(digits);
    char *stop = nullptr;
    literal.bits = std::bit_cast<uint64_t>(std::strtod(text.c_str(), &stop));
    end = *stop == '\0' ? digits.data() + digits.size() : nullptr;
  } else {
    parse(digits, digits.size() > 1 && digits[0] == '0' ? 8 : 10);
  }
  if (end != digits.data() + digits.size())
    fail("'{}' is not a number", token_.text);
  advance();
  if (isNegative)
    literal.bits = literal.form == Literal::Form::kInteger   ? 0 - literal.bits
                   : literal.form == Literal::Form::kFloat32 ? literal.bits ^ 0x80000000U
                                                             : literal.bits ^ (uint64_t{1} << 63);
  return literal;
}

uint64_t Parser::takeInteger() {
  const Literal literal = takeLiteral();
  if (literal.form != Literal::Form::kInteger)
    fail("expected a whole number");
  return literal.bits;
}

void Parser::parseTopLevel() {
  bool isExtern = false;
  while (token_.is(".visible") || token_.is(".extern") || token_.is(".weak") || token_.is(".common")) {
    isExtern |= token_.is(".extern");
    advance();
  }
  if (take(".entry"))
    return parseFunction(/*isEntry=*/true);
  if (take(".func"))
    return parseFunction(/*isEntry=*/false);
  if (const std::optional<Space> space = takeSpace()) {
    for (Variable &variable : parseVariables(*space, isExtern)) {
      if (*space != Space::kShared && *space != Space::kGlobal && *space != Space::kConstant)
        fail("'{}' is declared outside a function, which only .global, .const and .shared variables can be",
             variable.name);
      module_.variables.push_back(std::move(variable));
    }
    return expect(";");
  }
  skipDirective();
}

/// Skips directives that do not change results.
void Parser::skipDirective() {
  if (take(".version") || take(".address_size")) {
    advance();
  } else if (take(".target")) {
    do
      advance();
    while (take(","));
  } else if (take(".section")) {
    takeWord("a section's name");
    skipBraces();
  } else if (take(".file") || take(".loc")) {
    const uint32_t line = token_.line;
    while (going() && token_.line == line)
      advance();
  } else if (take(".pragma")) {
    while (going() && !token_.is(";"))
      advance();
    expect(";");
  } else {
    fail("expected a directive, found '{}'", token_.text);
  }
}

void Parser::skipBraces() {
  expect("{");
  for (int depth = 1; going() && depth > 0; advance())
    depth += token_.is("{") - token_.is("}");
}

void Parser::parseFunction(bool isEntry) {
  auto function = std::make_unique<FunctionText>();
  function_ = function.get();
  function_->isEntry = isEntry;
  function_->line = token_.line;
  scopes_.assign(1, {});
  if (!isEntry && token_.is("("))
    function_->results = parseParameters();
  function_->name = takeWord("a function's name");
  if (token_.is("("))
    function_->parameters = parseParameters();
  while (going() && !token_.is("{") && !token_.is(";"))
    parseFunctionDirective();
  if (!take(";")) {
    function_->hasBody = true;
    parseBody();
  }
  function_ = nullptr;
  module_.functions.push_back(std::move(function));
}

std::vector<uint32_t> Parser::parseParameters() {
  std::vector<uint32_t> parameters;
  expect("(");
  while (going() && !token_.is(")")) {
    const std::optional<Space> space = takeSpace();
    if (space != Space::kParameter)
      fail("expected .param, found '{}'", token_.text);
    parameters.push_back(declare(parseVariable(parseTypeOfVariable(Space::kParameter, /*isExtern=*/false))));
    if (!take(","))
      break;
  }
  expect(")");
  return parameters;
}

void Parser::parseFunctionDirective() {
  const bool fixesBlock = token_.is(".reqntid"), limitsThreads = fixesBlock || token_.is(".maxntid");
  const std::string name = takeWord("a directive or '{'");
  if (name == ".pragma") {
    advance();
    return expect(";");
  }
  std::array<uint32_t, 3> sizes{1, 1, 1};
  for (size_t dimension = 0; token_.kind == Token::Kind::kNumber && dimension < sizes.size(); ++dimension) {
    sizes[dimension] = static_cast<uint32_t>(takeInteger());
    if (!take(","))
      break;
  }
  if (limitsThreads)
    function_->maxThreads = sizes[0] * sizes[1] * sizes[2];
  if (fixesBlock)
    function_->requiredBlock = sizes;
}

} // namespace trainc::emulator
