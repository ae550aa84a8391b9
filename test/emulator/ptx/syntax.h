// Syntax tree of a PTX text: functions with statements on named variables.
#pragma once

#include "base/status.h"
#include "test/emulator/ptx/type.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainc::emulator {

enum class Space : uint8_t { kRegister, kParameter, kLocal, kShared, kGlobal, kConstant, kGeneric };

/// A register, or a named memory location.
struct Variable {
  std::string name;
  Space space = Space::kRegister;
  Type type;
  uint32_t bytes = 0, alignment = 1;
  bool isExtern = false;
  std::vector<std::byte> initial; ///< the first bytes; the rest is zero
  uint32_t line = 0;
};

/// A literal number.
struct Literal {
  enum class Form : uint8_t { kInteger, kFloat32, kFloat64 };
  Form form = Form::kInteger;
  uint64_t bits = 0;
};

struct Operand {
  enum class Kind : uint8_t {
    kName,    ///< a register, a symbol or a label, with `displacement`
    kLiteral, ///< a number
    kAddress, ///< in brackets: `elements` holds the base
    kVector,  ///< in braces
    kList,    ///< in parentheses, of a call
    kSink,    ///< `_`
    kPair,    ///< a|b
  };
  Kind kind = Kind::kName;
  std::string name;
  std::optional<uint32_t>
      variable; ///< of the function; empty: a symbol of the module, a label, a special register
  Literal literal;
  bool isNegated = false;   ///< a negated predicate: !p
  int64_t displacement = 0; ///< bytes
  std::vector<Operand> elements;
};

struct Statement {
  uint32_t line = 0;
  std::string text; ///< for messages
  std::optional<Operand> guard;
  std::string opcode;                 ///< "ld"
  std::vector<std::string> modifiers; ///< "global", "v4", "b32"
  std::vector<Operand> operands;
};

struct FunctionText {
  std::string name;
  bool isEntry = false, hasBody = false;
  uint32_t line = 0;
  uint32_t maxThreads = 0;                 ///< 0: unspecified
  std::array<uint32_t, 3> requiredBlock{}; ///< 0: unspecified
  std::vector<Variable> variables;
  std::vector<uint32_t> parameters, results; ///< variables
  std::vector<Statement> statements;
  std::map<std::string, uint32_t, std::less<>> labels; ///< index of the next statement
  std::map<std::string, std::vector<std::string>, std::less<>> branchTargets;
};

struct ModuleText {
  std::vector<Variable> variables;
  /// An address in an initial value: (variable, byte, name).
  struct AddressInside {
    uint32_t variable, offset;
    std::string name;
  };
  std::vector<AddressInside> addresses;
  std::vector<std::unique_ptr<FunctionText>> functions;

  const FunctionText *find(std::string_view name) const;
};

/// Fails with kInvalidInput and the line of invalid PTX.
Result<ModuleText> parseText(std::string_view text);

} // namespace trainc::emulator
