#include "test/emulator/ptx/module.h"

#include "test/emulator/ptx/assembler.h"

#include <algorithm>
#include <cstring>

namespace trainc::emulator {

namespace {

constexpr uint64_t kVariableAlignment = 512; ///< as a driver's allocations
constexpr uint32_t kMaxThreads = 1024;

/// Allocates `.global` and `.const` variables with their initial values.
Result<std::vector<PtxProgram::ModuleVariable>> placeVariables(const ModuleText &module) {
  std::vector<PtxProgram::ModuleVariable> placed;
  std::vector<std::pair<uint32_t, size_t>> places; // module variables by index in `placed`
  uint64_t next = kModuleWindow;
  for (uint32_t index = 0; index < module.variables.size(); ++index) {
    const Variable &variable = module.variables[index];
    if (variable.space == Space::kShared)
      continue;
    if (variable.isExtern)
      return invalidInput("PTX line {}: variable '{}' is in another module, and the emulator links none",
                          variable.line, variable.name);
    auto memory = std::make_shared<DeviceAllocation>(next, variable.bytes, /*isWritten=*/true);
    std::memcpy(memory->bytes.get(), variable.initial.data(), variable.initial.size());
    next += (variable.bytes + 2 * kVariableAlignment - 1) / kVariableAlignment * kVariableAlignment;
    places.emplace_back(index, placed.size());
    placed.push_back({variable.name, std::move(memory), variable.space == Space::kConstant});
  }
  for (const ModuleText::AddressInside &address : module.addresses) {
    const auto to = std::ranges::find(placed, address.name, &PtxProgram::ModuleVariable::name);
    const auto in = std::ranges::find(places, address.variable, &std::pair<uint32_t, size_t>::first);
    if (to == placed.end() || in == places.end())
      return invalidInput("PTX line {}: no variable of the module is called '{}'",
                          module.variables[address.variable].line, address.name);
    uint64_t value = 0;
    std::byte *const bytes = placed[in->second].memory->bytes.get() + address.offset;
    std::memcpy(&value, bytes, sizeof value);
    value += to->memory->address;
    std::memcpy(bytes, &value, sizeof value);
  }
  return placed;
}

} // namespace

Result<PtxModule> PtxModule::parse(std::string_view text) {
  TRAINC_ASSIGN_OR_RETURN(const ModuleText module, parseText(text));
  TRAINC_ASSIGN_OR_RETURN(const auto variables, placeVariables(module));
  PtxModule parsed;
  for (const auto &entry : module.functions) {
    if (!entry->isEntry || !entry->hasBody)
      continue;
    TRAINC_ASSIGN_OR_RETURN(auto program, Assembler(module, variables).assemble(*entry));
    auto function = std::make_unique<PtxFunction>();
    function->name = entry->name;
    uint32_t end = 0;
    for (const uint32_t index : entry->parameters) {
      const Variable &parameter = entry->variables[index];
      const uint32_t begin = (end + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
      function->parameters.push_back({begin, parameter.bytes});
      end = begin + parameter.bytes;
    }
    function->parameterBytes = program->parameterBytes;
    function->sharedBytes = program->sharedBytes;
    function->localBytes = program->frameBytes;
    function->maxThreads = entry->maxThreads != 0 ? std::min(entry->maxThreads, kMaxThreads) : kMaxThreads;
    function->requiredBlock = entry->requiredBlock;
    function->registers = static_cast<uint32_t>(program->registers.size() - 1);
    function->program = std::move(program);
    parsed.functions_.push_back(std::move(function));
  }
  return parsed;
}

const PtxFunction *PtxModule::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(functions_, [&](const auto &function) { return function->name == name; });
  return found == functions_.end() ? nullptr : found->get();
}

} // namespace trainc::emulator
