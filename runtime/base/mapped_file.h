// A file mapped read-only into memory.
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <filesystem>
#include <span>

namespace trainc {

/// A read-only, shared mapping of a whole regular file; unmapped on destruction. Pages are read when touched.
/// An empty file gives an empty span. Map only what is read once and is too large to copy.
class MappedFile {
public:
  /// Maps `path`. Fails (kInvalidInput) when it cannot be opened or is not a regular file.
  static Result<MappedFile> open(const std::filesystem::path &path);

  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  /// Whether bytes that were read are not the file's, but zeros: it has become shorter, or its disk fails.
  /// Ask when all is read.
  bool isLost() const;

private:
  MappedFile(std::span<const std::byte> bytes, size_t watch) : bytes_(bytes), watch_(watch) {}

  std::span<const std::byte> bytes_;
  size_t watch_ = 0; ///< where the mapping is noted for the signal handler
};

/// Lets a process that touches a lost page of a MappedFile go on, with zeros in the rest of the mapping.
/// SIGBUS for any other reason ends the process, as without this. Without it, a lost page does too. Call it
/// once, at the start of main().
void surviveLostPages();

/// What to say of a file that isLost(): "weights.bin: the file became shorter, ...".
Status lostPages(const std::string &path);

} // namespace trainc
