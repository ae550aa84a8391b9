#include "runtime/device/cpu/kernel_image.h"

#include "base/memory_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>

namespace trainc {

namespace {

constexpr uint64_t kPage = ElfImage::kPage;

bool writeAll(const Descriptor &file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      return false;
    bytes = bytes.subspan(written > 0 ? static_cast<size_t>(written) : 0);
  }
  return true;
}

/// Copies the object into a sealed memory file.
Result<Descriptor> sealed(std::span<const std::byte> object) {
  TRAINC_ASSIGN_OR_RETURN(Descriptor file, createMemoryFile("trainc-kernels"));
  if (!writeAll(file, object))
    return failed(
        "cannot write {} bytes of machine code to a file in memory: {}; is the memory full, or limited "
        "(ulimit -f, a container's limit)?",
        object.size(), std::strerror(errno));
  TRAINC_RETURN_IF_ERROR(sealMemoryFile(file, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW));
  return file;
}

bool mapPages(std::byte *place, uint64_t bytes, int protection, const Descriptor &file, uint64_t offset) {
  const int flags = MAP_PRIVATE | MAP_FIXED | (file ? 0 : MAP_ANONYMOUS);
  return bytes == 0 ||
         mmap(place, bytes, protection, flags, file.get(), static_cast<off_t>(offset)) != MAP_FAILED;
}

/// Maps a segment at its offset from `base`; data stays writable until protect().
bool mapSegment(std::byte *base, const ElfImage::Segment &segment, const Descriptor &file) {
  const int protection = segment.executable ? PROT_READ | PROT_EXEC : PROT_READ | PROT_WRITE;
  const uint64_t skew = segment.address % kPage, begin = segment.address - skew;
  const uint64_t fromFile = (skew + segment.fileBytes + kPage - 1) / kPage * kPage;
  const uint64_t all = (skew + segment.bytes + kPage - 1) / kPage * kPage;
  if (!mapPages(base + begin, fromFile, protection, file, segment.offset - skew) ||
      !mapPages(base + begin + fromFile, all - fromFile, protection, Descriptor(), 0))
    return false;
  const uint64_t inLastPage = std::min(segment.bytes, fromFile - skew) - segment.fileBytes;
  if (inLastPage > 0) // the file holds other bytes in the rest of the page
    std::memset(base + segment.address + segment.fileBytes, 0, inLastPage);
  return true;
}

bool protect(std::byte *base, const ElfImage::Segment &segment) {
  const uint64_t begin = segment.address / kPage * kPage;
  return segment.executable ||
         mprotect(base + begin, segment.address + segment.bytes - begin, PROT_READ) == 0;
}

} // namespace

struct KernelImage::Loaded {
  std::vector<std::byte> object; ///< `image` refers to these bytes
  ElfImage image;
  std::byte *base = nullptr;

  bool map(const Descriptor &file);
};

bool KernelImage::Loaded::map(const Descriptor &file) {
  void *room =
      mmap(nullptr, image.addressSpace(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    return false;
  base = static_cast<std::byte *>(room);
  for (const ElfImage::Segment &each : image.segments())
    if (!mapSegment(base, each, file))
      return false;
  for (const auto &[place, target] : image.relocations()) {
    const std::byte *address = base + target;
    std::memcpy(base + place, &address, sizeof(address));
  }
  return std::ranges::all_of(image.segments(), [this](const auto &each) { return protect(base, each); });
}

void KernelImage::Unload::operator()(Loaded *loaded) const {
  if (loaded->base)
    munmap(loaded->base, loaded->image.addressSpace());
  delete loaded;
}

Result<KernelImage> KernelImage::load(std::span<const std::byte> object) {
  std::vector<std::byte> bytes(object.begin(), object.end());
  TRAINC_ASSIGN_OR_RETURN(ElfImage parsed, ElfImage::parse(bytes));
  TRAINC_ASSIGN_OR_RETURN(const Descriptor file, sealed(bytes));
  KernelImage image;
  image.loaded_.reset(new Loaded{std::move(bytes), std::move(parsed)});
  if (!image.loaded_->map(file))
    return failed(
        "cannot map machine code: {}; where the system forbids to execute files in memory (SELinux, a "
        "seccomp filter), allow it",
        std::strerror(errno));
  return image;
}

KernelFunction KernelImage::find(std::string_view symbol) const {
  const std::optional<uint64_t> address = loaded_ ? loaded_->image.find(symbol) : std::nullopt;
  return address ? reinterpret_cast<KernelFunction>(loaded_->base + *address) : nullptr;
}

} // namespace trainc
