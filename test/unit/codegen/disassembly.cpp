#include "test/unit/codegen/disassembly.h"

#include "llvm-c/Disassembler.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/TargetSelect.h"

namespace trainc::codegen::harness {

/// Skips bytes that are not instructions, such as padding between functions.
static void disassemble(LLVMDisasmContextRef disassembler, llvm::StringRef section, uint64_t address,
                        std::vector<std::string> &found) {
  std::string bytes = section.str();
  for (size_t at = 0; at < bytes.size();) {
    char text[128] = "";
    auto *from = reinterpret_cast<uint8_t *>(&bytes[at]);
    const size_t size =
        LLVMDisasmInstruction(disassembler, from, bytes.size() - at, address + at, text, sizeof(text));
    if (size > 0)
      found.push_back(llvm::StringRef(text).trim().str());
    at += std::max<size_t>(size, 1);
  }
}

std::vector<std::string> instructions(llvm::StringRef object) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86Disassembler();
  const LLVMDisasmContextRef disassembler =
      LLVMCreateDisasm("x86_64-unknown-linux-gnu", nullptr, 0, nullptr, nullptr);
  const auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile({object, "object"}));
  std::vector<std::string> found;
  for (const llvm::object::SectionRef &section : file->sections())
    if (section.isText())
      disassemble(disassembler, llvm::cantFail(section.getContents()), section.getAddress(), found);
  LLVMDisasmDispose(disassembler);
  return found;
}

} // namespace trainc::codegen::harness
