#include "runtime/device/cpu/elf_image.h"

#include <algorithm>
#include <cstring>

namespace trainc {

namespace {

/// Upper bound of addresses and sizes in an image.
constexpr uint64_t kMaxAddress = uint64_t{1} << 32;
constexpr uint16_t kMaxHeaders = 64;

uint64_t pageBegin(uint64_t address) { return address / ElfImage::kPage * ElfImage::kPage; }
uint64_t pageEnd(uint64_t address) { return pageBegin(address + ElfImage::kPage - 1); }

template <typename... Args> Status refuse(fmt::format_string<Args...> format, Args &&...args) {
  return invalidInput("expected an image of kernels, found {}; compile the model again",
                      fmt::format(format, std::forward<Args>(args)...));
}

/// The hash function of DT_GNU_HASH tables.
uint32_t hashOf(std::string_view name) {
  uint32_t hash = 5381;
  for (const char c : name)
    hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

} // namespace

Result<ElfImage> ElfImage::parse(std::span<const std::byte> file) {
  ElfImage image(file);
  Elf64_Ehdr header{};
  TRAINC_RETURN_IF_ERROR(image.readHeader(header));
  TRAINC_RETURN_IF_ERROR(image.readSegments(header));
  TRAINC_RETURN_IF_ERROR(image.readDynamic());
  TRAINC_RETURN_IF_ERROR(image.readRelocations());
  return image;
}

uint64_t ElfImage::addressSpace() const { return pageEnd(segments_.back().address + segments_.back().bytes); }

Status ElfImage::readHeader(Elf64_Ehdr &header) const {
  const std::optional<Elf64_Ehdr> found = read<Elf64_Ehdr>(0);
  if (!found || std::memcmp(found->e_ident, ELFMAG, SELFMAG) != 0)
    return refuse("no ELF file");
  header = *found;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_ident[EI_VERSION] != EV_CURRENT || header.e_machine != EM_X86_64)
    return refuse("code that is not for x86-64 (ELF class {}, machine {})", header.e_ident[EI_CLASS],
                  header.e_machine);
  if (header.e_type != ET_DYN)
    return refuse("no shared object (ELF type {})", header.e_type);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMaxHeaders)
    return refuse("{} program headers of {} bytes", header.e_phnum, header.e_phentsize);
  return {};
}

Status ElfImage::readSegments(const Elf64_Ehdr &header) {
  for (uint16_t i = 0; i < header.e_phnum; ++i) {
    const std::optional<Elf64_Phdr> each = read<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!each)
      return refuse("program header {} outside the file", i);
    TRAINC_RETURN_IF_ERROR(addHeader(*each));
  }
  if (segments_.empty() || !dynamic_)
    return refuse("no segment to load, or none of dynamic entries");
  return checkNothingStaysWritable();
}

Status ElfImage::addHeader(const Elf64_Phdr &header) {
  switch (header.p_type) {
  case PT_LOAD:
    return addSegment(header);
  case PT_DYNAMIC:
    if (dynamic_)
      return refuse("two segments of dynamic entries");
    dynamic_ = header;
    return {};
  case PT_GNU_RELRO:
    if (readOnlyAfter_ || header.p_vaddr > kMaxAddress || header.p_memsz > kMaxAddress)
      return refuse("two segments that become read-only, or one out of range");
    readOnlyAfter_ = header;
    return {};
  case PT_GNU_STACK:
    return (header.p_flags & PF_X) == 0 ? Status() : refuse("a stack that is executable");
  case PT_NULL: // ignored: nothing reads what these refer to
  case PT_NOTE:
  case PT_PHDR:
  case PT_GNU_EH_FRAME:
  case PT_GNU_PROPERTY:
    return {};
  default:
    return refuse("a program header of type {:#x}", header.p_type);
  }
}

Status ElfImage::addSegment(const Elf64_Phdr &header) {
  const bool writable = (header.p_flags & PF_W) != 0, executable = (header.p_flags & PF_X) != 0;
  if (writable && executable)
    return refuse("a segment that is both writable and executable");
  if (header.p_vaddr > kMaxAddress || header.p_memsz > kMaxAddress || header.p_filesz > header.p_memsz ||
      (executable && header.p_filesz != header.p_memsz))
    return refuse("a segment of {} bytes in the file and {} in memory, at address {:#x}", header.p_filesz,
                  header.p_memsz, header.p_vaddr);
  if (header.p_offset > file_.size() || header.p_filesz > file_.size() - header.p_offset)
    return refuse("a segment outside the file");
  if (header.p_vaddr % kPage != header.p_offset % kPage)
    return refuse("a segment at address {:#x} from offset {:#x}, which pages do not fit", header.p_vaddr,
                  header.p_offset);
  const uint64_t last = segments_.empty() ? 0 : addressSpace();
  if (header.p_memsz == 0 || pageBegin(header.p_vaddr) < last)
    return refuse("segments that are empty, overlap or are out of order");
  segments_.push_back({header.p_vaddr, header.p_memsz, header.p_offset, header.p_filesz, executable});
  if (writable)
    writable_.push_back(header);
  return {};
}

/// Segments that are written on loading must be covered by PT_GNU_RELRO.
Status ElfImage::checkNothingStaysWritable() const {
  for (const Elf64_Phdr &each : writable_)
    if (!readOnlyAfter_ || each.p_vaddr < readOnlyAfter_->p_vaddr ||
        each.p_vaddr + each.p_memsz > pageEnd(readOnlyAfter_->p_vaddr + readOnlyAfter_->p_memsz))
      return refuse("data that stays writable");
  return {};
}

Status ElfImage::readDynamic() {
  for (uint64_t at = 0; at < dynamic_->p_memsz; at += sizeof(Elf64_Dyn)) {
    const std::optional<Elf64_Dyn> entry = readAt<Elf64_Dyn>(dynamic_->p_vaddr + at);
    if (!entry)
      break;
    if (entry->d_tag == DT_NULL)
      return checkTables();
    TRAINC_RETURN_IF_ERROR(addEntry(*entry));
  }
  return refuse("dynamic entries without an end");
}

Status ElfImage::addEntry(const Elf64_Dyn &entry) {
  constexpr uint64_t kHarmless = DF_BIND_NOW, kHarmless1 = DF_1_NOW;
  switch (const uint64_t value = entry.d_un.d_val; entry.d_tag) {
  case DT_SYMTAB:
    tables_.symbols = value;
    return {};
  case DT_STRTAB:
    tables_.strings = value;
    return {};
  case DT_GNU_HASH:
    tables_.hash = value;
    return {};
  case DT_RELA:
    tables_.relocations = value;
    return {};
  case DT_STRSZ:
    tables_.stringBytes = value;
    return {};
  case DT_SYMENT:
    tables_.symbolBytes = value;
    return {};
  case DT_RELASZ:
    tables_.relocationBytes = value;
    return {};
  case DT_RELAENT:
    tables_.relocationSize = value;
    return {};
  case DT_RELACOUNT: // only a hint
    return {};
  case DT_FLAGS:
    return (value & ~kHarmless) == 0 ? Status() : refuse("dynamic flags {:#x}", value);
  case DT_FLAGS_1:
    return (value & ~kHarmless1) == 0 ? Status() : refuse("dynamic flags 1 {:#x}", value);
  case DT_NEEDED:
    return refuse("a library that it needs");
  case DT_INIT:
  case DT_FINI:
  case DT_INIT_ARRAY:
  case DT_FINI_ARRAY:
  case DT_PREINIT_ARRAY:
    return refuse("a function that runs when it is loaded or unloaded");
  case DT_TEXTREL:
    return refuse("code that is written to while it is loaded");
  default:
    return refuse("a dynamic entry with tag {:#x}", entry.d_tag);
  }
}

Status ElfImage::checkTables() const {
  if (!tables_.symbols || !tables_.strings || !tables_.hash)
    return refuse("no table of symbols");
  if (tables_.symbolBytes != sizeof(Elf64_Sym) || tables_.relocationSize != sizeof(Elf64_Rela))
    return refuse("symbols of {} bytes and relocations of {}", tables_.symbolBytes, tables_.relocationSize);
  if (!offsetOf(*tables_.strings, tables_.stringBytes))
    return refuse("names of symbols outside the file");
  return {};
}

Status ElfImage::readRelocations() {
  if (!tables_.relocations)
    return {};
  if (!offsetOf(*tables_.relocations, tables_.relocationBytes))
    return refuse("relocations outside the file");
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= tables_.relocationBytes; at += sizeof(Elf64_Rela))
    TRAINC_RETURN_IF_ERROR(addRelocation(*readAt<Elf64_Rela>(*tables_.relocations + at)));
  return {};
}

/// Accepts only relative relocations that target the image, in memory that becomes read-only.
Status ElfImage::addRelocation(const Elf64_Rela &relocation) {
  if (relocation.r_info != R_X86_64_RELATIVE)
    return refuse("a relocation of type {} by symbol {}", ELF64_R_TYPE(relocation.r_info),
                  ELF64_R_SYM(relocation.r_info));
  const auto target = static_cast<uint64_t>(relocation.r_addend);
  const bool inside = std::ranges::any_of(writable_, [&](const Elf64_Phdr &each) {
    return relocation.r_offset >= each.p_vaddr && each.p_memsz >= sizeof(uint64_t) &&
           relocation.r_offset - each.p_vaddr <= each.p_memsz - sizeof(uint64_t);
  });
  if (!inside || relocation.r_offset % sizeof(uint64_t) != 0 || target >= addressSpace())
    return refuse("a relocation at {:#x} to {:#x}, outside of its data", relocation.r_offset, target);
  relocations_.push_back({relocation.r_offset, target});
  return {};
}

/// Looks up the GNU hash table: header, Bloom filter (skipped), buckets, chains.
std::optional<uint64_t> ElfImage::find(std::string_view name) const {
  struct Header {
    uint32_t buckets, firstSymbol, filterWords, filterShift;
  };
  const std::optional<Header> header = readAt<Header>(*tables_.hash);
  if (!header || header->buckets == 0)
    return std::nullopt;
  const uint64_t buckets = *tables_.hash + sizeof(Header) + uint64_t{header->filterWords} * sizeof(uint64_t);
  const uint64_t chains = buckets + uint64_t{header->buckets} * sizeof(uint32_t);
  const uint32_t hash = hashOf(name);
  const std::optional<uint32_t> first = readAt<uint32_t>(buckets + hash % header->buckets * sizeof(uint32_t));
  if (!first || *first < header->firstSymbol)
    return std::nullopt; // empty bucket
  for (uint64_t index = *first;; ++index) {
    const auto link = readAt<uint32_t>(chains + (index - header->firstSymbol) * sizeof(uint32_t));
    const auto symbol = readAt<Elf64_Sym>(*tables_.symbols + index * sizeof(Elf64_Sym));
    if (!link || !symbol)
      return std::nullopt;
    if ((*link | 1) == (hash | 1) && isNamed(*symbol, name))
      return isCode(*symbol) ? std::optional(symbol->st_value) : std::nullopt;
    if ((*link & 1) != 0)
      return std::nullopt; // end of the chain
  }
}

bool ElfImage::isNamed(const Elf64_Sym &symbol, std::string_view name) const {
  if (symbol.st_name >= tables_.stringBytes || name.size() >= tables_.stringBytes - symbol.st_name)
    return false;
  const auto *text = reinterpret_cast<const char *>(
      file_.data() + *offsetOf(*tables_.strings + symbol.st_name, name.size() + 1));
  return std::string_view(text, name.size()) == name && text[name.size()] == '\0';
}

/// Whether the symbol is a defined function of the image; indirect functions (STT_GNU_IFUNC) are not.
bool ElfImage::isCode(const Elf64_Sym &symbol) const {
  return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
         std::ranges::any_of(segments_, [&](const Segment &each) {
           return each.executable && symbol.st_value >= each.address &&
                  symbol.st_value - each.address < each.bytes;
         });
}

template <typename T> std::optional<T> ElfImage::read(uint64_t offset) const {
  if (offset > file_.size() || sizeof(T) > file_.size() - offset)
    return std::nullopt;
  T value;
  std::memcpy(&value, file_.data() + offset, sizeof(T));
  return value;
}

template <typename T> std::optional<T> ElfImage::readAt(uint64_t address) const {
  const std::optional<uint64_t> offset = offsetOf(address, sizeof(T));
  return offset ? read<T>(*offset) : std::nullopt;
}

/// File offset of the bytes at an address, which must lie in one segment.
std::optional<uint64_t> ElfImage::offsetOf(uint64_t address, uint64_t bytes) const {
  for (const Segment &each : segments_)
    if (address >= each.address && address - each.address <= each.fileBytes &&
        bytes <= each.fileBytes - (address - each.address))
      return each.offset + (address - each.address);
  return std::nullopt;
}

} // namespace trainc
