// A shared object of kernels in memory, loaded into the process.
#pragma once

#include "runtime/base/status.h"
#include "runtime/device/cpu/elf_image.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace trainc {

/// A generated kernel: runs tiles [begin, end) of its grid. `shared` is memory that no other call has at the
/// same time, 64-byte aligned; kernels without such memory have no fourth argument, which the calling
/// convention allows.
using KernelFunction = void (*)(void *const *args, int64_t begin, int64_t end, void *shared);

/// Machine code that can be called for as long as this lives. The CPU must have the features that it needs.
class KernelImage {
public:
  /// No code.
  KernelImage() = default;

  /// Checks an ELF shared object (see ElfImage) and maps it from a file in memory that nobody can change:
  /// code is executable, all else read-only. No other code of it runs than what is called. Fails
  /// (kInvalidInput) where the object is something else, (kFailed) with the system's reason, and what may be
  /// behind it.
  static Result<KernelImage> load(std::span<const std::byte> object);

  /// Null when there is no such function.
  KernelFunction find(std::string_view symbol) const;

private:
  struct Loaded;
  struct Unload {
    void operator()(Loaded *loaded) const;
  };

  std::unique_ptr<Loaded, Unload> loaded_;
};

} // namespace trainc
