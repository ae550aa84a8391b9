#include "runtime/base/hash.h"
#include "runtime/state/safetensors_view.h"
#include "test/unit/runtime/state/support.h"

namespace trainc {
namespace {

TEST(SafetensorsWriter, RoundTrip) {
  TempFolder folder;
  const std::vector<OwnedTensor> tensors = {f32("wte.weight", {2, 3}, {1, 2, 3, 4, 5, 6}),
                                            {"step", fb::DType::I64, {}, std::vector<int64_t>{7}},
                                            f32("empty", {0, 4}, {})};
  const auto written = saveTensors(folder / "a.safetensors", tensors);
  ASSERT_TRUE(written.ok()) << written.status().message();

  const auto file = SafetensorsView::open(folder / "a.safetensors");
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_EQ(file->tensors().size(), 3U);
  for (const OwnedTensor &tensor : tensors) {
    const SafetensorsTensor *read = file->find(tensor.tensor.name);
    ASSERT_NE(read, nullptr) << tensor.tensor.name;
    EXPECT_EQ(describe(*read), describe(tensor.tensor));
    EXPECT_TRUE(std::ranges::equal(read->bytes, tensor.bytes));
    EXPECT_EQ(written->tensors.at(read->name), xxh3(read->bytes));
  }
  EXPECT_EQ(file->tensors().front().fileOffset % 64, 0U);
  EXPECT_EQ(file->metadata().at("format"), "pt");
}

TEST(SafetensorsWriter, ChecksumsAreThoseOfTheFile) {
  TempFolder folder;
  // More than one chunk, and not a multiple of it.
  const std::vector<OwnedTensor> tensors = {f32("big", {100001}, std::vector<float>(100001, 0.5F))};
  const auto written = saveTensors(folder / "a.safetensors", tensors);
  ASSERT_TRUE(written.ok()) << written.status().message();
  const std::string text = readFile(folder / "a.safetensors");
  const auto bytes = std::as_bytes(std::span(text));
  EXPECT_EQ(written->bytes, text.size());
  EXPECT_EQ(written->file, xxh3(bytes));
  EXPECT_EQ(written->header, xxh3(bytes.first(bytes.size() - 400004)));
  EXPECT_EQ(written->tensors.at("big"), xxh3(tensors[0].bytes));
}

TEST(SafetensorsWriter, ReportsPathAndReason) {
  TempFolder folder;
  const auto missing = saveTensors(folder / "none/a.safetensors", {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().exitCode(), 1);
  EXPECT_NE(missing.status().message().find("none/a.safetensors: cannot create: No such file"),
            std::string::npos)
      << missing.status().message();

  const std::vector<OwnedTensor> tensors = {f32("w", {1}, {1})};
  const auto full = saveTensors("/dev/full", tensors);
  ASSERT_FALSE(full.ok());
  EXPECT_NE(full.status().message().find("/dev/full: cannot write: No space left on device"),
            std::string::npos)
      << full.status().message();
}

} // namespace
} // namespace trainc
