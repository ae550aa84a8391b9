// Decoding of one statement to an instruction.
#pragma once

#include "test/emulator/ptx/program.h"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trainc::emulator {

/// Resolves names in the current scope.
class Resolver {
public:
  virtual ~Resolver() = default;
  /// The register of a variable.
  virtual Slot registerOf(const Operand &operand) = 0;
  virtual Slot constant(uint64_t bits, unsigned width) = 0;
  /// The address of memory in its own space, or a generic one for parameters; nothing for an unknown name.
  virtual std::optional<Slot> addressOf(const Operand &operand, unsigned width) = 0;
  virtual Slot special(const Special &special) = 0;
  /// A register for unused results.
  virtual Slot sink(unsigned width) = 0;
  /// The predicate that holds the carry of multi-word arithmetic.
  virtual Slot carry() = 0;
  virtual bool isRegister(const Operand &operand) const = 0;
  virtual const std::vector<std::string> *branchTargets(const std::string &name) const = 0;
};

/// Interface for decoders of instructions. Keeps the first error; results after an error are meaningless.
class Decoding {
public:
  Decoding(const Statement &statement, Resolver &resolver);

  Instruction instruction;
  std::vector<std::string> labels; ///< targets of a branch

  const Statement &statement() const { return statement_; }
  const std::string &error() const { return error_; }
  template <typename... Args> void fail(fmt::format_string<Args...> format, Args &&...args) {
    if (error_.empty())
      error_ = fmt::format(format, std::forward<Args>(args)...);
  }

  // Modifiers: each must be taken.
  bool take(std::string_view modifier);
  /// Takes the first of these that is present; "": none.
  std::string_view takeOneOf(std::initializer_list<std::string_view> modifiers);
  void takeBeginningWith(std::string_view prefix);
  /// Takes the first remaining type.
  Type takeType();
  std::optional<Type> maybeType();
  /// Fails unless all modifiers were taken.
  void finish();

  // Operands: appended to the instruction's reads or writes.
  size_t operands() const { return statement_.operands.size(); }
  void expectOperands(size_t minimum, size_t maximum);
  const Operand &operand(size_t index);
  void read(size_t index, Type type) { readOperand(operand(index), type); }
  void readOperand(const Operand &operand, Type type);
  /// A register that may be wider than the type.
  void readWide(const Operand &operand, Type type);
  void readConstant(uint64_t bits, unsigned width);
  void write(size_t index, Type type) { writeOperand(operand(index), type); }
  void writeOperand(const Operand &operand, Type type);
  void writeWide(const Operand &operand, Type type);
  /// Decodes d or d|p, including the second register.
  void writePair(size_t index, Type type);
  /// A predicate, possibly negated.
  bool readPredicate(size_t index);
  /// [base + displacement]
  void readAddress(size_t index);
  /// A literal number.
  uint64_t number(size_t index);
  Resolver &resolver() { return resolver_; }

private:
  Slot sourceOf(const Operand &operand, Type type, bool mayBeWider);
  Slot literal(const Literal &literal, Type type);

  const Statement &statement_;
  Resolver &resolver_;
  std::vector<std::string_view> modifiers_; ///< not taken yet
  std::string error_;
};

/// Decodes the rest of an instruction with this opcode.
using Decoder = void (*)(Decoding &);
using Decoders = std::unordered_map<std::string_view, Decoder>;

/// By opcode; each file of instructions adds its own.
const Decoders &allDecoders();
void addIntegerDecoders(Decoders &);
void addBitDecoders(Decoders &);
void addCarryDecoders(Decoders &);
void addFloatDecoders(Decoders &);
void addFloatSelectionDecoders(Decoders &);
void addArithmeticDecoders(Decoders &);
void addApproximationDecoders(Decoders &);
void addComparisonDecoders(Decoders &);
void addConversionDecoders(Decoders &);
void addMoveDecoders(Decoders &);
void addLoadStoreDecoders(Decoders &);
void addAtomicDecoders(Decoders &);
void addAsyncCopyDecoders(Decoders &);
void addMatrixDecoders(Decoders &);
void addCollectiveDecoders(Decoders &);
void addControlDecoders(Decoders &);

} // namespace trainc::emulator
