#include "runtime/device/cpu/kernel_library.h"

#include "runtime/device/cpu/cpu_features.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace trainc {

namespace {

/// The object to run: the highest level whose features are all present.
Result<const fb::Object *> chooseObject(const fb::Plan &plan) {
  const fb::Object *best = nullptr;
  std::vector<std::string> refusals;
  for (const fb::Object *object : *plan.objects()) {
    std::vector<std::string_view> features;
    for (const auto *feature : *object->features())
      features.emplace_back(feature->c_str());
    const auto missing = missingFeatures(object->level()->c_str(), features);
    if (!missing.empty())
      refusals.push_back(fmt::format("{} (missing: {})", object->level()->c_str(), fmt::join(missing, ", ")));
    else if (!best || object->level()->str() > best->level()->str())
      best = object;
  }
  if (!best)
    return invalidInput(
        "this CPU cannot run the plan's kernels: it has code for {}; use a CPU with these features",
        fmt::join(refusals, "; "));
  return best;
}

bool writeImage(int fd, const flatbuffers::Vector<uint8_t> &image) {
  for (size_t done = 0; done < image.size();) {
    const ssize_t written = ::write(fd, image.data() + done, image.size() - done);
    if (written < 0 && errno != EINTR)
      return false;
    done += written > 0 ? static_cast<size_t>(written) : 0;
  }
  return true;
}

/// Loads an ELF shared object from memory; null with the reason in `error`.
void *openImage(const flatbuffers::Vector<uint8_t> &image, std::string &error) {
  const int fd = memfd_create("trainc-kernels", MFD_CLOEXEC);
  if (fd < 0 || !writeImage(fd, image)) {
    error = std::strerror(errno);
    if (fd >= 0)
      ::close(fd);
    return nullptr;
  }
  void *handle = dlopen(fmt::format("/proc/self/fd/{}", fd).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    error = dlerror();
  ::close(fd);
  return handle;
}

} // namespace

void KernelLibrary::Close::operator()(void *handle) const { dlclose(handle); }

Result<KernelLibrary> KernelLibrary::load(const fb::Plan &plan) {
  KernelLibrary library;
  if (plan.kernels()->size() == 0)
    return library;
  TRAINC_ASSIGN_OR_RETURN(const fb::Object *object, chooseObject(plan));
  library.level_ = object->level()->str();
  std::string error;
  library.handle_.reset(openImage(*object->image(), error));
  if (!library.handle_)
    return invalidInput("cannot load the plan's kernels for {}: {}; compile the model again", library.level_,
                        error);
  for (const fb::Kernel *kernel : *plan.kernels()) {
    void *symbol = dlsym(library.handle_.get(), kernel->symbol()->c_str());
    if (!symbol)
      return invalidInput("the plan's code for {} lacks kernel {}; compile the model again", library.level_,
                          kernel->symbol()->c_str());
    library.functions_.push_back(reinterpret_cast<KernelFunction>(symbol));
  }
  return library;
}

} // namespace trainc
