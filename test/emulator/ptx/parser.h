// Recursive descent parser for PTX, shared by the other parser files.
#pragma once

#include "test/emulator/ptx/lexer.h"
#include "test/emulator/ptx/syntax.h"

#include <fmt/format.h>
#include <unordered_map>

namespace trainc::emulator {

/// Keeps the first error; results after an error are meaningless.
class Parser {
public:
  explicit Parser(std::string_view text) : text_(text), lexer_(text) { advance(); }

  Result<ModuleText> parseModule();

private:
  // Tokens.
  void advance() {
    end_ = lexer_.position();
    token_ = lexer_.next();
  }
  bool take(std::string_view what);
  void expect(std::string_view what);
  std::string takeWord(std::string_view what);
  uint64_t takeInteger();
  Literal takeLiteral();
  template <typename... Args> void fail(fmt::format_string<Args...> format, Args &&...args) {
    if (status_.ok())
      status_ =
          invalidInput("PTX line {}: {}", token_.line, fmt::format(format, std::forward<Args>(args)...));
  }
  bool going() const { return status_.ok() && token_.kind != Token::Kind::kEnd; }

  // Modules and functions.
  void parseTopLevel();
  void skipDirective();
  void skipBraces();
  void parseFunction(bool isEntry);
  std::vector<uint32_t> parseParameters();
  void parseFunctionDirective();

  // Variables.
  std::optional<Space> takeSpace();
  Variable parseTypeOfVariable(Space space, bool isExtern);
  Variable parseVariable(Variable variable);
  void parseInitial(Variable &variable);
  void parseInitialElement(Variable &variable);
  std::vector<Variable> parseVariables(Space space, bool isExtern);
  uint32_t declare(Variable variable);

  // Statements.
  void parseBody();
  void parseBranchTargets(const std::string &name);
  void parseInstruction();
  Operand parseOperand();
  Operand parseElements(Operand::Kind kind, std::string_view end);
  Operand parseName();
  Operand parseNumber();
  std::string textFrom(size_t begin, size_t end) const;

  std::string_view text_;
  Lexer lexer_;
  Token token_;
  size_t end_ = 0; ///< end of the previous token
  Status status_;
  ModuleText module_;
  FunctionText *function_ = nullptr;
  /// Names in open braces, innermost last.
  std::vector<std::unordered_map<std::string, uint32_t>> scopes_;
};

} // namespace trainc::emulator
