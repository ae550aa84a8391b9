// Damaged images of kernels: the input is a list of edits of a good image, each 4 bytes: a 16-bit position
// (modulo the size), how many bytes are as the last one (up to 8), and the new value. They are rejected, or
// mapped; nothing in them is called.
#include "runtime/device/cpu/kernel_image.h"
#include "test/unit/runtime/device/elf_builder.h"

#include <algorithm>

using namespace trainc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::vector<std::byte> good = test::ElfBuilder().bytes();
  std::vector<std::byte> file = good;
  for (; size >= 4; data += 4, size -= 4) {
    const size_t position = (data[0] | data[1] << 8) % file.size();
    std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(position),
                std::min<size_t>(data[2] % 8 + 1, file.size() - position), std::byte{data[3]});
  }
  const Result<KernelImage> image = KernelImage::load(file);
  if (!image.ok())
    return 0;
  for (const char *name : {"", test::ElfBuilder::kFirst, test::ElfBuilder::kSecond, "third"})
    (void)image->find(name);
  return 0;
}
