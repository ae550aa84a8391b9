// Parses declarations of registers, parameters and memory.
#include "test/emulator/ptx/parser.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace trainc::emulator {

namespace {

constexpr uint64_t kMaxVariableBytes = uint64_t{1} << 30; ///< of a variable
constexpr uint32_t kMaxRegisters = 1U << 20; ///< of one declaration; more is taken for a typing error

} // namespace

std::optional<Space> Parser::takeSpace() {
  static const std::unordered_map<std::string_view, Space> spaces = {
      {".reg", Space::kRegister},  {".param", Space::kParameter}, {".local", Space::kLocal},
      {".shared", Space::kShared}, {".global", Space::kGlobal},   {".const", Space::kConstant}};
  const auto found = spaces.find(token_.text);
  if (found == spaces.end())
    return std::nullopt;
  advance();
  return found->second;
}

/// Parses the part between space and name, which several names may share.
Variable Parser::parseTypeOfVariable(Space space, bool isExtern) {
  Variable variable;
  variable.space = space;
  variable.isExtern = isExtern;
  uint32_t elements = 1;
  std::optional<uint32_t> alignment;
  bool isPointer = false; // .align then refers to the pointee
  while (going() && token_.text.starts_with('.')) {
    const std::string_view word = token_.text.substr(1);
    if (const std::optional<Type> type = typeOf(word)) {
      variable.type = *type;
      advance();
    } else if (take(".align")) {
      const uint64_t value = takeInteger();
      if (!isPointer)
        alignment = static_cast<uint32_t>(value);
    } else if (take(".ptr")) {
      isPointer = true;
    } else if (word == "v2" || word == "v4") {
      elements *= static_cast<uint32_t>(word[1] - '0');
      advance();
    } else if (word == "global" || word == "shared" || word == "const" || word == "local" ||
               word == "noalias") {
      advance(); // space of the pointee
    } else {
      fail("expected a type or an alignment, found '{}'", token_.text);
    }
  }
  if (variable.type.bits == 0)
    fail("expected a type, found '{}'", token_.text);
  variable.bytes = variable.type.bytes() * elements;
  variable.alignment = alignment.value_or(variable.type.bytes());
  if (status_.ok() && !std::has_single_bit(variable.alignment))
    fail("an alignment of {} is not a power of two", variable.alignment);
  return variable;
}

/// Parses a name, its extents and its initial value.
Variable Parser::parseVariable(Variable variable) {
  variable.line = token_.line;
  variable.name = takeWord("a variable's name");
  while (going() && take("[")) {
    const uint64_t extent = token_.is("]") ? 0 : takeInteger();
    if (extent > kMaxVariableBytes || extent * variable.bytes > kMaxVariableBytes)
      fail("'{}' has more than {} bytes", variable.name, kMaxVariableBytes);
    variable.bytes *= static_cast<uint32_t>(extent);
    expect("]");
  }
  if (take("="))
    parseInitial(variable);
  return variable;
}

void Parser::parseInitial(Variable &variable) {
  if (!take("{"))
    return parseInitialElement(variable);
  int depth = 1; // nested braces fill one extent after the other
  while (going() && depth > 0) {
    if (take("{"))
      ++depth;
    else if (take("}"))
      --depth;
    else if (!take(","))
      parseInitialElement(variable);
  }
}

void Parser::parseInitialElement(Variable &variable) {
  const auto offset = static_cast<uint32_t>(variable.initial.size());
  const unsigned bytes = variable.type.bytes();
  uint64_t bits = 0;
  if (token_.kind == Token::Kind::kWord) { // an address, which is resolved later
    const bool isGeneric = take("generic");
    if (isGeneric)
      expect("(");
    module_.addresses.push_back(
        {static_cast<uint32_t>(module_.variables.size()), offset, takeWord("a variable's name")});
    if (isGeneric)
      expect(")");
    if (take("+"))
      bits = takeInteger();
    if (bytes != 8)
      fail("an address in '{}' needs elements of 64 bits", variable.name);
  } else {
    const Literal literal = takeLiteral();
    bits = literal.bits;
    if (literal.form == Literal::Form::kFloat64 && variable.type.bits == 32)
      bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  }
  variable.initial.resize(offset + bytes);
  std::memcpy(variable.initial.data() + offset, &bits, bytes);
  if (variable.initial.size() > variable.bytes)
    fail("'{}' has {} bytes, and more are given for it", variable.name, variable.bytes);
}

/// Parses a declaration up to its semicolon: names, or ranges of registers such as %r<13>.
std::vector<Variable> Parser::parseVariables(Space space, bool isExtern) {
  std::vector<Variable> variables;
  const Variable common = parseTypeOfVariable(space, isExtern);
  do {
    Variable variable = parseVariable(common);
    if (!take("<")) {
      variables.push_back(std::move(variable));
      continue;
    }
    const uint64_t count = takeInteger();
    expect(">");
    if (count > kMaxRegisters)
      fail("{} registers, at most {} are allowed", count, kMaxRegisters);
    for (uint64_t index = 0; index < count && status_.ok(); ++index) {
      variables.push_back(variable);
      variables.back().name += std::to_string(index);
    }
  } while (going() && take(","));
  return variables;
}

uint32_t Parser::declare(Variable variable) {
  const auto index = static_cast<uint32_t>(function_->variables.size());
  if (!scopes_.back().emplace(variable.name, index).second)
    fail("'{}' is declared twice", variable.name);
  function_->variables.push_back(std::move(variable));
  return index;
}

} // namespace trainc::emulator
