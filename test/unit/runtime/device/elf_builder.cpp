#include "test/unit/runtime/device/elf_builder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace trainc::test {

namespace {

// Offsets, equal in file and memory: one page per segment.
constexpr uint64_t kPage = 4096, kSymbols = 0x400, kStrings = 0x600, kHash = 0x700, kRelocations = 0x800,
                   kCode = kPage, kData = 2 * kPage, kDynamic = kData + 0x100, kEnd = 3 * kPage;
constexpr std::string_view kNames("\0first\0second\0", 14);
/// Both return.
constexpr std::array<uint8_t, 2> kInstructions = {0xc3, 0xc3};

template <typename T> void put(std::vector<std::byte> &file, uint64_t at, std::span<const T> values) {
  std::memcpy(file.data() + at, values.data(), values.size_bytes());
}

uint32_t hashOf(std::string_view name) {
  return std::accumulate(name.begin(), name.end(), 5381U,
                         [](uint32_t hash, char c) { return hash * 33 + static_cast<unsigned char>(c); });
}

/// One bucket with all symbols but the first, a filter that lets all pass, and the chain.
std::array<uint32_t, 9> hashTable() {
  return {1, 1, 1, 0, ~0U, ~0U, 1, hashOf("first") & ~1U, hashOf("second") | 1U};
}

Elf64_Phdr segment(uint32_t type, uint32_t flags, uint64_t at, uint64_t size) {
  return {.p_type = type,
          .p_flags = flags,
          .p_offset = at,
          .p_vaddr = at,
          .p_paddr = at,
          .p_filesz = size,
          .p_memsz = size,
          .p_align = kPage};
}

Elf64_Sym function(uint32_t name, uint64_t address) {
  return {.st_name = name,
          .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
          .st_other = STV_DEFAULT,
          .st_shndx = 1,
          .st_value = address,
          .st_size = 1};
}

} // namespace

ElfBuilder::ElfBuilder() {
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(header);
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  segments = {segment(PT_LOAD, PF_R, 0, kPage),
              segment(PT_LOAD, PF_R | PF_X, kCode, kInstructions.size()),
              segment(PT_LOAD, PF_R | PF_W, kData, 0x200),
              segment(PT_DYNAMIC, PF_R | PF_W, kDynamic, 0x100),
              segment(PT_GNU_RELRO, PF_R, kData, kPage),
              segment(PT_GNU_STACK, PF_R | PF_W, 0, 0)};
  symbols = {Elf64_Sym{}, function(1, kCode), function(7, kCode + 1)};
  relocations = {{.r_offset = kData, .r_info = R_X86_64_RELATIVE, .r_addend = kCode}};
  dynamic = {{DT_SYMTAB, {kSymbols}}, {DT_STRTAB, {kStrings}},   {DT_STRSZ, {kNames.size()}},
             {DT_GNU_HASH, {kHash}},  {DT_RELA, {kRelocations}}, {DT_RELASZ, {sizeof(Elf64_Rela)}},
             {DT_NULL, {0}}};
}

Elf64_Dyn &ElfBuilder::entry(int64_t tag) {
  return *std::ranges::find_if(dynamic, [=](const Elf64_Dyn &each) { return each.d_tag == tag; });
}

void ElfBuilder::add(int64_t tag, uint64_t value) {
  dynamic.insert(dynamic.end() - 1, Elf64_Dyn{tag, {value}});
}

std::vector<std::byte> ElfBuilder::bytes() const {
  std::vector<std::byte> file(kEnd);
  Elf64_Ehdr head = header;
  head.e_phnum = static_cast<uint16_t>(segments.size());
  put(file, 0, std::span<const Elf64_Ehdr>(&head, 1));
  put(file, sizeof(head), std::span(segments));
  put(file, kSymbols, std::span(symbols));
  put(file, kStrings, std::span<const char>(kNames));
  const auto hashes = hashTable();
  put(file, kHash, std::span<const uint32_t>(hashes));
  put(file, kRelocations, std::span(relocations));
  put(file, kCode, std::span<const uint8_t>(kInstructions));
  put(file, kDynamic, std::span(dynamic));
  return file;
}

} // namespace trainc::test
