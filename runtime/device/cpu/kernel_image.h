// A shared object of kernels, loaded into the process.
#pragma once

#include "base/status.h"
#include "runtime/device/cpu/elf_image.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace trainc {

/// A generated kernel: runs tiles [begin, end) of its grid. `shared` is scratch memory, aligned to 64 bytes,
/// that no concurrent call uses. Kernels without scratch memory ignore the fourth argument, which the calling
/// convention permits.
using KernelFunction = void (*)(void *const *args, int64_t begin, int64_t end, void *shared);

/// Callable machine code, valid during the lifetime of this object. The CPU must have the features that the
/// code needs.
class KernelImage {
public:
  /// An image without code.
  KernelImage() = default;

  /// Validates an ELF shared object (see ElfImage) and maps it from a sealed memory file: code executable,
  /// everything else read-only. No code of the object runs on loading. Fails with kInvalidInput if the object
  /// is invalid. Fails with kFailed if it cannot be mapped; the error has the system's reason and its likely
  /// cause.
  static Result<KernelImage> load(std::span<const std::byte> object);

  /// Null if there is no function of this name.
  KernelFunction find(std::string_view symbol) const;

private:
  struct Loaded;
  struct Unload {
    void operator()(Loaded *loaded) const;
  };

  std::unique_ptr<Loaded, Unload> loaded_;
};

} // namespace trainc
