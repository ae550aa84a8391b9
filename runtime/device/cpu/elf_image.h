// Parser and validator of the ELF shared objects that hold kernels.
#pragma once

#include "base/status.h"

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace trainc {

/// A shared object as the compiler emits it: code and constants without external dependencies, and no memory
/// that stays writable. Reads only program headers, dynamic entries and the tables to which these refer;
/// ignores sections. Addresses are relative to the image.
class ElfImage {
public:
  /// Page size of file and memory.
  static constexpr uint64_t kPage = 4096;

  struct Segment {
    uint64_t address, bytes; ///< in memory
    uint64_t offset;         ///< in the file
    uint64_t fileBytes;      ///< bytes present in the file; the rest is zero
    bool executable;
  };
  /// A word of a non-executable segment that receives the run-time address of `target`.
  struct Relocation {
    uint64_t place, target;
  };

  /// Fails with kInvalidInput, naming what was expected and found, if `file` is anything else: code of
  /// another machine, or an object with library dependencies, constructors, thread-local storage, writable or
  /// writable-and-executable memory, undefined symbols, or offsets outside the file. The image refers to
  /// `file`, which must outlive it.
  static Result<ElfImage> parse(std::span<const std::byte> file);

  /// Segments sorted by address, each on pages of its own. They lie between address 0 and addressSpace().
  const std::vector<Segment> &segments() const { return segments_; }
  const std::vector<Relocation> &relocations() const { return relocations_; }
  /// Size in memory, in whole pages.
  uint64_t addressSpace() const;
  /// Address of a function; nothing if there is none of this name.
  std::optional<uint64_t> find(std::string_view symbol) const;

private:
  /// Tables that dynamic entries refer to.
  struct Tables {
    std::optional<uint64_t> symbols, strings, hash, relocations;
    uint64_t stringBytes = 0, symbolBytes = sizeof(Elf64_Sym);
    uint64_t relocationBytes = 0, relocationSize = sizeof(Elf64_Rela);
  };

  explicit ElfImage(std::span<const std::byte> file) : file_(file) {}
  Status readHeader(Elf64_Ehdr &header) const;
  Status readSegments(const Elf64_Ehdr &header);
  Status addHeader(const Elf64_Phdr &header);
  Status addSegment(const Elf64_Phdr &header);
  Status checkNothingStaysWritable() const;
  Status readDynamic();
  Status addEntry(const Elf64_Dyn &entry);
  Status checkTables() const;
  Status readRelocations();
  Status addRelocation(const Elf64_Rela &relocation);
  template <typename T> std::optional<T> read(uint64_t offset) const;
  template <typename T> std::optional<T> readAt(uint64_t address) const;
  std::optional<uint64_t> offsetOf(uint64_t address, uint64_t bytes) const;
  bool isCode(const Elf64_Sym &symbol) const;
  bool isNamed(const Elf64_Sym &symbol, std::string_view name) const;

  std::span<const std::byte> file_;
  std::vector<Segment> segments_;
  std::vector<Elf64_Phdr> writable_; ///< segments that are writable only while the image is loaded
  std::optional<Elf64_Phdr> dynamic_, readOnlyAfter_;
  Tables tables_;
  std::vector<Relocation> relocations_;
};

} // namespace trainc
