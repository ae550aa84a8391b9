#include "runtime/device/cpu/kernel_image.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace trainc {

namespace {

bool writeAll(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      return false;
    bytes = bytes.subspan(written > 0 ? static_cast<size_t>(written) : 0);
  }
  return true;
}

} // namespace

struct KernelImage::Loaded {
  /// As long as the code: dlopen() takes a path that it knows for the library that it has, and the path names
  /// the descriptor.
  int file = -1;
  void *handle = nullptr;
};

void KernelImage::Unload::operator()(Loaded *loaded) const {
  if (loaded->handle)
    dlclose(loaded->handle);
  if (loaded->file >= 0)
    ::close(loaded->file);
  delete loaded;
}

Result<KernelImage> KernelImage::load(std::span<const std::byte> object) {
  KernelImage image;
  image.loaded_.reset(new Loaded);
  Loaded &loaded = *image.loaded_;
  loaded.file = memfd_create("trainc-kernels", MFD_CLOEXEC);
  if (loaded.file < 0)
    return failed(
        "no file in memory for machine code: {}; does a seccomp filter forbid memfd_create, or are too many "
        "files open (ulimit -n)?",
        std::strerror(errno));
  if (!writeAll(loaded.file, object))
    return failed(
        "cannot write {} bytes of machine code to a file in memory: {}; is the memory full, or limited "
        "(ulimit -f, a container's limit)?",
        object.size(), std::strerror(errno));
  loaded.handle = dlopen(fmt::format("/proc/self/fd/{}", loaded.file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded.handle)
    return failed(
        "{}; compile the model again, or, where the system forbids to execute files in memory (sysctl "
        "vm.memfd_noexec, SELinux, no /proc), allow it",
        dlerror());
  return image;
}

KernelFunction KernelImage::find(const std::string &symbol) const {
  return loaded_ ? reinterpret_cast<KernelFunction>(dlsym(loaded_->handle, symbol.c_str())) : nullptr;
}

} // namespace trainc
