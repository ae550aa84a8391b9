// Converts statements to instructions; names.cpp resolves names.
#include "test/emulator/ptx/assembler.h"

#include <algorithm>

namespace trainc::emulator {

namespace {

uint32_t alignedTo(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

Status wrongStatement(const Statement &statement, const std::string &what) {
  return invalidInput("PTX line {} `{}`: {}", statement.line, statement.text, what);
}

} // namespace

Assembler::Assembler(const ModuleText &module, const std::vector<PtxProgram::ModuleVariable> &variables)
    : module_(module), program_(std::make_shared<PtxProgram>()) {
  program_->variables = variables;
}

Result<std::shared_ptr<const PtxProgram>> Assembler::assemble(const FunctionText &entry) {
  program_->kernel = entry.name;
  Instance instance(&entry);
  for (const uint32_t parameter : entry.parameters) {
    const uint64_t offset = placeIn(program_->parameterBytes, entry.variables[parameter]);
    instance.addresses.emplace(parameter, kParameterWindow + offset);
  }
  TRAINC_RETURN_IF_ERROR(place(instance));
  Statement end; // a kernel ends with an exit, with or without `ret`
  end.text = "}";
  end.line = entry.statements.empty() ? entry.line : entry.statements.back().line;
  const auto exit = static_cast<uint32_t>(program_->code.size());
  for (const uint32_t place : instance.returns)
    program_->code[place].targets = {exit};
  Instruction last;
  last.flow = Flow::kExit;
  append(last, end);
  program_->sharedBytes = alignedTo(program_->sharedBytes, dynamicAlignment_);
  for (const size_t index : dynamicShared_)
    program_->constants[index].bits += program_->sharedBytes;
  return std::shared_ptr<const PtxProgram>(program_);
}

/// Appends a function's code.
Status Assembler::place(Instance &instance) {
  const FunctionText &function = *instance.function;
  callers_.push_back(&function);
  for (const Statement &statement : function.statements) {
    instance_ = &instance;
    instance.places.push_back(static_cast<uint32_t>(program_->code.size()));
    if (statement.opcode == "call")
      TRAINC_RETURN_IF_ERROR(call(instance, statement));
    else
      TRAINC_RETURN_IF_ERROR(decode(instance, statement));
  }
  instance.places.push_back(static_cast<uint32_t>(program_->code.size()));
  callers_.pop_back();
  return bindBranches(instance);
}

Status Assembler::decode(Instance &instance, const Statement &statement) {
  const Decoders &decoders = allDecoders();
  const auto decoder = decoders.find(statement.opcode);
  if (decoder == decoders.end())
    return wrongStatement(statement, fmt::format("the emulator knows no instruction '{}'", statement.opcode));
  Decoding decoding(statement, *this);
  if (statement.guard) {
    decoding.instruction.hasGuard = true;
    decoding.instruction.guardIsNegated = statement.guard->isNegated;
    if (!isRegister(*statement.guard) || registerOf(*statement.guard).bits != 1)
      decoding.fail("'{}' is not a predicate", statement.guard->name);
    else
      decoding.instruction.guard = registerOf(*statement.guard);
  }
  decoder->second(decoding);
  decoding.finish();
  if (!decoding.error().empty())
    return wrongStatement(statement, decoding.error());
  const auto here = static_cast<uint32_t>(program_->code.size());
  if (statement.opcode == "ret")
    instance.returns.push_back(here);
  if (!decoding.labels.empty())
    instance.branches.emplace_back(here, decoding.labels);
  append(std::move(decoding.instruction), statement);
  return {};
}

/// Inlines the callee's code with the caller's parameters; `ret` becomes a branch to its end.
Status Assembler::call(Instance &caller, const Statement &statement) {
  std::vector<Operand> results, arguments;
  std::string name;
  for (const Operand &operand : statement.operands) {
    if (operand.kind == Operand::Kind::kName && name.empty())
      name = operand.name;
    else if (operand.kind == Operand::Kind::kList)
      (name.empty() ? results : arguments) = operand.elements;
    else
      return wrongStatement(statement, "expected call (results), function, (arguments)");
  }
  const FunctionText *const callee = module_.find(name);
  if (!callee || !callee->hasBody)
    return wrongStatement(statement, fmt::format("the module has no body of a function '{}'", name));
  if (std::ranges::find(callers_, callee) != callers_.end())
    return wrongStatement(statement,
                          fmt::format("'{}' calls itself, which the emulator has no stack for", name));
  if (statement.guard)
    return wrongStatement(statement, "a call under a guard is not known to the emulator; branch around it");
  if (results.size() != callee->results.size() || arguments.size() != callee->parameters.size())
    return wrongStatement(statement, fmt::format("'{}' has {} results and {} arguments, found {} and {}",
                                                 name, callee->results.size(), callee->parameters.size(),
                                                 results.size(), arguments.size()));
  Instance instance(callee);
  const auto bind = [&](const std::vector<Operand> &from, const std::vector<uint32_t> &to) {
    for (size_t index = 0; index < to.size(); ++index) {
      if (!from[index].variable || isRegister(from[index]))
        return false;
      instance.addresses.emplace(to[index], addressOfLocal(*from[index].variable));
    }
    return true;
  };
  if (!bind(results, callee->results) || !bind(arguments, callee->parameters))
    return wrongStatement(statement, "expected .param variables as results and arguments");
  TRAINC_RETURN_IF_ERROR(place(instance));
  for (const uint32_t place : instance.returns)
    program_->code[place].targets = {static_cast<uint32_t>(program_->code.size())};
  instance_ = &caller;
  return {};
}

Status Assembler::bindBranches(Instance &instance) {
  for (const auto &[place, labels] : instance.branches)
    for (const std::string &label : labels) {
      const auto found = instance.function->labels.find(label);
      if (found == instance.function->labels.end()) {
        const PtxProgram::Source &source = program_->sources[program_->code[place].source];
        return invalidInput("PTX line {} `{}`: function '{}' has no label '{}'", source.line, source.text,
                            instance.function->name, label);
      }
      program_->code[place].targets.push_back(instance.places[found->second]);
    }
  return {};
}

void Assembler::append(Instruction instruction, const Statement &statement) {
  instruction.source = static_cast<uint32_t>(program_->sources.size());
  program_->sources.push_back({statement.line, statement.text});
  program_->code.push_back(std::move(instruction));
}

/// Allocates an aligned address at `end`, which it advances.
uint64_t Assembler::placeIn(uint32_t &end, const Variable &variable) {
  const uint32_t begin = alignedTo(end, variable.alignment);
  end = begin + variable.bytes;
  return begin;
}

} // namespace trainc::emulator
