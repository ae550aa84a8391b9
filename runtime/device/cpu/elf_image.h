// What an ELF shared object of kernels says of itself, once all of it has been checked.
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace trainc {

/// A shared object as the compiler makes it: code and constants, which need nothing from outside and leave
/// nothing that could be written to. Only program headers, dynamic entries and what these point to count;
/// sections are not read. Addresses count from the image's begin.
class ElfImage {
public:
  /// Pages of the file, and of memory.
  static constexpr uint64_t kPage = 4096;

  struct Segment {
    uint64_t address, bytes; ///< where it lies in memory
    uint64_t offset;         ///< where it lies in the file
    uint64_t fileBytes;      ///< that come from there; the others are zero
    bool executable;
  };
  /// A word of a segment that is not executable: it gets the address of `target` in memory.
  struct Relocation {
    uint64_t place, target;
  };

  /// Fails (kInvalidInput), naming what was expected and found, where `file` is anything else: another
  /// machine's code, libraries that it needs, constructors, thread-local storage, memory that is writable or
  /// both writable and executable, symbols that others have to provide, or anything outside the file. The
  /// image points into `file`.
  static Result<ElfImage> parse(std::span<const std::byte> file);

  /// By address, each on pages of its own; from address 0 to addressSpace().
  const std::vector<Segment> &segments() const { return segments_; }
  const std::vector<Relocation> &relocations() const { return relocations_; }
  /// Whole pages.
  uint64_t addressSpace() const;
  /// The address of a function; nothing where there is no such one.
  std::optional<uint64_t> find(std::string_view symbol) const;

private:
  /// What dynamic entries point to.
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
  std::vector<Elf64_Phdr> writable_; ///< while the image is loaded
  std::optional<Elf64_Phdr> dynamic_, readOnlyAfter_;
  Tables tables_;
  std::vector<Relocation> relocations_;
};

} // namespace trainc
