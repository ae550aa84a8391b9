// Images of kernels made by hand, so that a test can have any of their parts otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <span>
#include <string>
#include <vector>

namespace trainc::test {

/// An image with two functions in a segment of code, a table that points to the first one in data that
/// becomes read-only, and all that describes them. Change parts, then take bytes().
struct ElfBuilder {
  static constexpr const char *kFirst = "first", *kSecond = "second";

  ElfBuilder();

  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments;     ///< headers: constants, code, data, dynamic entries, read-only, stack
  std::vector<Elf64_Dyn> dynamic;       ///< the last one ends them
  std::vector<Elf64_Sym> symbols;       ///< none, kFirst, kSecond
  std::vector<Elf64_Rela> relocations;  ///< the table's
  std::vector<std::byte> bytes() const; ///< of the file

  Elf64_Phdr &constants() { return segments[0]; }
  Elf64_Phdr &code() { return segments[1]; }
  Elf64_Phdr &data() { return segments[2]; }
  /// The entry with this tag.
  Elf64_Dyn &entry(int64_t tag);
  /// Puts an entry before the last one.
  void add(int64_t tag, uint64_t value);
};

} // namespace trainc::test
