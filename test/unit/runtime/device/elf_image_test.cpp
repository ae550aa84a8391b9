// Validation of kernel images before anything of them is loaded.
#include "runtime/device/cpu/kernel_image.h"
#include "test/unit/runtime/device/elf_builder.h"
#include "test/unit/runtime/memory_access.h"

#include <array>
#include <gmock/gmock.h>
#include <set>

namespace trainc::test {
namespace {

using testing::HasSubstr;

std::string refusal(const ElfBuilder &builder) {
  const std::vector<std::byte> file = builder.bytes();
  const Status status = KernelImage::load(file).status();
  EXPECT_TRUE(status.ok() || status.exitCode() == 2);
  return status.message();
}

TEST(ElfImage, IsMappedAndCanBeCalled) {
  const auto image = KernelImage::load(ElfBuilder().bytes());
  ASSERT_TRUE(image.ok()) << image.status().message();
  for (const char *name : {ElfBuilder::kFirst, ElfBuilder::kSecond}) {
    ASSERT_NE(image->find(name), nullptr) << name;
    image->find(name)(nullptr, 0, 0, nullptr);
  }
  for (const char *name : {"", "firs", "first ", "third"})
    EXPECT_EQ(image->find(name), nullptr) << name;
}

TEST(ElfImage, NothingOfItCanBeWrittenTo) {
  const auto image = KernelImage::load(ElfBuilder().bytes());
  auto *code = reinterpret_cast<std::byte *>(image->find(ElfBuilder::kFirst));
  const MemoryProbe probe;
  for (const int page : {-1, 0, 1}) { // constants, code, data
    EXPECT_TRUE(probe.canRead(code + page * 4096)) << page;
    EXPECT_FALSE(probe.canWrite(code + page * 4096)) << page;
  }
  const std::byte *pointer = nullptr;
  std::memcpy(&pointer, code + 4096, sizeof(pointer));
  EXPECT_EQ(pointer, code) << "the relocation of the table";
}

TEST(ElfImage, BytesThatAreNotInTheFileAreZero) {
  ElfBuilder builder;
  builder.data().p_memsz = builder.segments[4].p_memsz = 3 * 4096;
  const auto image = KernelImage::load(builder.bytes());
  ASSERT_TRUE(image.ok()) << image.status().message();
  const auto *data = reinterpret_cast<const std::byte *>(image->find(ElfBuilder::kFirst)) + 4096;
  EXPECT_TRUE(std::all_of(data + 0x200, data + 3 * 4096, [](std::byte b) { return b == std::byte{0}; }));
}

TEST(ElfImage, OnlyAllowedProgramHeadersAreLoaded) {
  for (const uint32_t type :
       {0U + PT_NULL, 0U + PT_NOTE, 0U + PT_PHDR, 0U + PT_GNU_EH_FRAME, 0U + PT_GNU_PROPERTY}) {
    ElfBuilder builder;
    builder.segments.emplace_back().p_type = type;
    EXPECT_EQ(refusal(builder), "") << type;
  }
  for (const uint32_t type : {0U + PT_INTERP, 0U + PT_SHLIB, 0U + PT_TLS, 0U + PT_LOOS}) {
    ElfBuilder builder;
    builder.segments.emplace_back().p_type = type;
    EXPECT_THAT(refusal(builder), HasSubstr(fmt::format("a program header of type {:#x}", type)));
  }
}

TEST(ElfImage, OnlyAllowedDynamicEntriesAreLoaded) {
  const std::set<int64_t> allowed = {DT_SYMTAB, DT_STRTAB,  DT_STRSZ,     DT_SYMENT, DT_GNU_HASH, DT_RELA,
                                     DT_RELASZ, DT_RELAENT, DT_RELACOUNT, DT_FLAGS,  DT_FLAGS_1};
  for (const auto &[begin, end] : {std::pair<int64_t, int64_t>{1, 64}, {0x6ffffd00, 0x70000010}})
    for (int64_t tag = begin; tag < end; ++tag) {
      ElfBuilder builder;
      builder.add(tag, 0);
      const bool refused = std::ranges::any_of(std::array{"a dynamic entry with tag", "a library that",
                                                          "a function that runs", "code that is written"},
                                               [message = refusal(builder)](const char *reason) {
                                                 return message.find(reason) != std::string::npos;
                                               });
      EXPECT_EQ(refused, !allowed.contains(tag)) << tag;
    }
}

/// A way to damage an image, and the expected message.
struct Fault {
  const char *reason;
  void (*seed)(ElfBuilder &);
};

const Fault kFaults[] = {
    {"no ELF file", [](ElfBuilder &e) { e.header.e_ident[0] = 'E'; }},
    {"not for x86-64", [](ElfBuilder &e) { e.header.e_machine = EM_AARCH64; }},
    {"not for x86-64", [](ElfBuilder &e) { e.header.e_ident[EI_CLASS] = ELFCLASS32; }},
    {"not for x86-64", [](ElfBuilder &e) { e.header.e_ident[EI_DATA] = ELFDATA2MSB; }},
    {"no shared object", [](ElfBuilder &e) { e.header.e_type = ET_EXEC; }},
    {"program headers of 55 bytes", [](ElfBuilder &e) { e.header.e_phentsize = 55; }},
    {"program header 0 outside the file", [](ElfBuilder &e) { e.header.e_phoff = ~0ULL - 20; }},
    {"both writable and executable", [](ElfBuilder &e) { e.code().p_flags |= PF_W; }},
    {"both writable and executable", [](ElfBuilder &e) { e.data().p_flags |= PF_X; }},
    {"data that stays writable", [](ElfBuilder &e) { e.segments[4].p_type = PT_NULL; }},
    {"data that stays writable", [](ElfBuilder &e) { e.data().p_memsz = 4097; }},
    {"data that stays writable", [](ElfBuilder &e) { e.constants().p_flags |= PF_W; }},
    {"a stack that is executable", [](ElfBuilder &e) { e.segments[5].p_flags |= PF_X; }},
    {"two segments of dynamic entries", [](ElfBuilder &e) { e.segments.push_back(e.segments[3]); }},
    {"two segments that become read-only", [](ElfBuilder &e) { e.segments.push_back(e.segments[4]); }},
    {"none of dynamic entries", [](ElfBuilder &e) { e.segments[3].p_type = PT_NULL; }},
    {"no segment to load", [](ElfBuilder &e) { e.segments.clear(); }},
    {"a segment of", [](ElfBuilder &e) { e.code().p_memsz += 1; }},
    {"a segment of", [](ElfBuilder &e) { e.data().p_memsz = 1; }},
    {"a segment of", [](ElfBuilder &e) { e.data().p_memsz = ~0ULL; }},
    {"a segment of", [](ElfBuilder &e) { e.data().p_vaddr = ~0ULL; }},
    {"a segment outside the file", [](ElfBuilder &e) { e.data().p_offset += 2 * 4096; }},
    {"a segment outside the file", [](ElfBuilder &e) { e.data().p_offset = ~0ULL - 4095; }},
    {"which pages do not fit", [](ElfBuilder &e) { e.data().p_vaddr += 8; }},
    {"segments that are empty", [](ElfBuilder &e) { e.code().p_filesz = e.code().p_memsz = 0; }},
    {"segments that are empty, overlap", [](ElfBuilder &e) { e.code().p_vaddr = 0; }},
    {"or are out of order", [](ElfBuilder &e) { std::swap(e.code(), e.data()); }},
    {"dynamic entries without an end", [](ElfBuilder &e) { e.dynamic.assign(16, {DT_RELACOUNT, {0}}); }},
    {"dynamic entries without an end", [](ElfBuilder &e) { e.segments[3].p_vaddr = 1 << 20; }},
    {"a library that it needs", [](ElfBuilder &e) { e.add(DT_NEEDED, 1); }},
    {"a function that runs when", [](ElfBuilder &e) { e.add(DT_INIT, 4096); }},
    {"a function that runs when", [](ElfBuilder &e) { e.add(DT_FINI, 4096); }},
    {"a function that runs when", [](ElfBuilder &e) { e.add(DT_INIT_ARRAY, 8192); }},
    {"a function that runs when", [](ElfBuilder &e) { e.add(DT_FINI_ARRAY, 8192); }},
    {"a function that runs when", [](ElfBuilder &e) { e.add(DT_PREINIT_ARRAY, 8192); }},
    {"code that is written to", [](ElfBuilder &e) { e.add(DT_TEXTREL, 0); }},
    {"dynamic flags 0x4", [](ElfBuilder &e) { e.add(DT_FLAGS, DF_TEXTREL); }},
    {"dynamic flags 1 0x20", [](ElfBuilder &e) { e.add(DT_FLAGS_1, DF_1_INITFIRST); }},
    {"a dynamic entry with tag 0x17", [](ElfBuilder &e) { e.add(DT_JMPREL, 0x800); }},
    {"a dynamic entry with tag 0x24", [](ElfBuilder &e) { e.add(DT_RELR, 0x800); }},
    {"a dynamic entry with tag 0x1d", [](ElfBuilder &e) { e.add(DT_RUNPATH, 1); }},
    {"no table of symbols", [](ElfBuilder &e) { e.entry(DT_GNU_HASH).d_tag = DT_RELACOUNT; }},
    {"symbols of 25 bytes", [](ElfBuilder &e) { e.add(DT_SYMENT, 25); }},
    {"relocations of 16", [](ElfBuilder &e) { e.add(DT_RELAENT, 16); }},
    {"names of symbols outside", [](ElfBuilder &e) { e.entry(DT_STRSZ).d_un.d_val = ~0ULL; }},
    {"relocations outside the file", [](ElfBuilder &e) { e.entry(DT_RELASZ).d_un.d_val = 1 << 20; }},
    {"relocations outside the file", [](ElfBuilder &e) { e.entry(DT_RELA).d_un.d_val = ~0ULL - 4; }},
    {"a relocation at 0x1000", [](ElfBuilder &e) { e.relocations[0].r_offset = 0x1000; }},
    {"a relocation at 0x0", [](ElfBuilder &e) { e.relocations[0].r_offset = 0; }},
    {"a relocation at 0x21f9", [](ElfBuilder &e) { e.relocations[0].r_offset = 0x21f9; }},
    {"a relocation at 0x2000 to 0xff", [](ElfBuilder &e) { e.relocations[0].r_addend = -1; }},
};

TEST(ElfImage, EverySeededFaultIsRefused) {
  for (size_t i = 0; i < std::size(kFaults); ++i) {
    ElfBuilder builder;
    kFaults[i].seed(builder);
    EXPECT_THAT(refusal(builder), HasSubstr(kFaults[i].reason)) << i;
  }
}

TEST(ElfImage, OnlyAddressesOfTheImageAreRelocated) {
  for (uint32_t type = 0; type < 64; ++type) {
    ElfBuilder builder;
    builder.relocations[0].r_info = ELF64_R_INFO(0, type);
    EXPECT_EQ(refusal(builder).empty(), type == R_X86_64_RELATIVE) << type;
    builder.relocations[0].r_info = ELF64_R_INFO(1, type);
    EXPECT_FALSE(refusal(builder).empty()) << type;
  }
}

TEST(ElfImage, OnlyFunctionsInItsCodeAreFound) {
  for (const int type : {STT_NOTYPE, STT_OBJECT, STT_TLS, STT_GNU_IFUNC}) {
    ElfBuilder builder;
    builder.symbols[1].st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type));
    EXPECT_EQ(KernelImage::load(builder.bytes())->find(ElfBuilder::kFirst), nullptr) << type;
  }
  for (const uint64_t address : {uint64_t{0}, uint64_t{4098}, uint64_t{8192}, ~uint64_t{0}}) {
    ElfBuilder builder;
    builder.symbols[1].st_value = address;
    EXPECT_EQ(KernelImage::load(builder.bytes())->find(ElfBuilder::kFirst), nullptr) << address;
  }
  ElfBuilder builder;
  builder.symbols[1].st_shndx = SHN_UNDEF;
  EXPECT_EQ(KernelImage::load(builder.bytes())->find(ElfBuilder::kFirst), nullptr);
}

/// Loads it and looks up symbols; calls nothing.
bool loads(std::span<const std::byte> file) {
  const auto image = KernelImage::load(file);
  if (!image.ok())
    return false;
  for (const char *name : {"", ElfBuilder::kFirst, ElfBuilder::kSecond, "third"})
    (void)image->find(name);
  return true;
}

TEST(ElfImage, AnyByteThatIsOtherwiseDoesNoHarm) {
  const std::vector<std::byte> good = ElfBuilder().bytes();
  uint64_t loaded = 0, refused = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    if (good[at] == std::byte{0} && at % 8 != 0 && at > 0x900)
      continue; // padding
    for (const uint8_t flip : {0x01, 0x80, 0xff}) {
      std::vector<std::byte> file = good;
      file[at] ^= std::byte{flip};
      ++(loads(file) ? loaded : refused);
    }
  }
  EXPECT_GT(loaded, 1000U) << "names, constants, code";
  EXPECT_GT(refused, 500U);
}

TEST(ElfImage, AnyPartOfItIsRefused) {
  const std::vector<std::byte> good = ElfBuilder().bytes();
  for (size_t size = 0; size < 2 * 4096 + 0x200; size += size < 1000 ? 1 : 61)
    EXPECT_FALSE(loads(std::span(good).first(size))) << size;
}

} // namespace
} // namespace trainc::test
