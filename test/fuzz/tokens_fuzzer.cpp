// Any bytes as a data file (token stream or safetensors): opened and read through, or rejected.
#include "runtime/data/dataset.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace trainc;

namespace {

/// A folder that goes away with the process.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tokens-fuzzer-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

void readThrough(const std::filesystem::path &path, std::vector<ColumnSpec> columns) {
  const auto dataset = Dataset::open({path.string()}, std::move(columns));
  if (!dataset.ok())
    return;
  for (size_t column = 0; column < dataset->columns().size(); ++column) {
    std::vector<std::byte> row(dataset->columns()[column].bytes());
    for (uint64_t sample = 0; sample < std::min<uint64_t>(dataset->samples(), 64); ++sample)
      (void)dataset->fill(column, std::span(&sample, 1), row);
    const uint64_t last = dataset->samples() - 1;
    (void)dataset->fill(column, std::span(&last, 1), row);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const bool isSafetensors = size > 8 && data[8] == '{';
  static const Folder kFolder;
  const std::filesystem::path path = kFolder.path / (isSafetensors ? "data.safetensors" : "data.bin");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(data), static_cast<std::streamsize>(size));
  readThrough(path, {{"tokens", fb::DType::I32, {4}, 300, -100}, {"labels", fb::DType::I32, {4}, 300, -100}});
  readThrough(path, {{"features", fb::DType::F32, {3}}, {"labels", fb::DType::I64, {}, 10, -100}});
  return 0;
}
