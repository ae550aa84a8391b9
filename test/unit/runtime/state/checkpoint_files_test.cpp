#include "runtime/state/checkpoint_files.h"

#include "base/hash.h"
#include "runtime/formats/safetensors_view.h"
#include "test/unit/runtime/state/support.h"

#include <gmock/gmock.h>
#include <numeric>

namespace trainc {
namespace {

using testing::HasSubstr;

void doNothing() {}

class CheckpointFilesTest : public testing::Test {
protected:
  /// Writes tensors to model.safetensors, and reads the file.
  SafetensorsView save(const std::vector<OwnedTensor> &tensors) {
    const CheckpointFiles files({.parameters = views(tensors), .optimizer = {}, .exports = {}}, {});
    Status status = files.create(folder_.path());
    EXPECT_TRUE(status.ok()) << status.message();
    const auto checksums = files.write(folder_.path(), doNothing);
    EXPECT_TRUE(checksums.ok()) << checksums.status().message();
    status = files.complete(folder_.path(), {}, *checksums);
    EXPECT_TRUE(status.ok()) << status.message();
    const std::string text = readFile(folder_ / kTrainerStateFile);
    recorded_ = TrainerState::fromJson("state", text)->files[kModelFile];
    return std::move(*SafetensorsView::open(folder_ / kModelFile));
  }

  TempFolder folder_;
  FileChecksums recorded_;
};

TEST_F(CheckpointFilesTest, RoundTrip) {
  const std::vector<OwnedTensor> tensors = {f32("wte.weight", {2, 3}, {1, 2, 3, 4, 5, 6}),
                                            {"step", fb::DType::I64, {}, std::vector<int64_t>{7}},
                                            f32("empty", {0, 4}, {})};
  const SafetensorsView file = save(tensors);
  ASSERT_EQ(file.tensors().size(), 3U);
  for (const OwnedTensor &tensor : tensors) {
    const SafetensorsTensor *read = file.find(tensor.tensor.name);
    ASSERT_NE(read, nullptr) << tensor.tensor.name;
    EXPECT_EQ(describe(*read), describe(tensor.tensor));
    EXPECT_TRUE(std::ranges::equal(read->bytes, tensor.bytes));
  }
  EXPECT_EQ(recorded_.tensors.at("step"), std::vector<uint64_t>{xxh3(tensors[1].bytes)});
  EXPECT_EQ(recorded_.tensors.at("empty"), std::vector<uint64_t>());
  EXPECT_EQ(file.tensors().front().fileOffset % 64, 0U);
  EXPECT_EQ(file.metadata().at("format"), "pt");
}

TEST_F(CheckpointFilesTest, ChecksumsAreThoseOfBlocks) {
  std::vector<float> values(2 * kChecksumBlockBytes / sizeof(float) + 1);
  std::iota(values.begin(), values.end(), 0.0F);
  const std::vector<OwnedTensor> tensors = {f32("big", {values.size()}, values)};
  const SafetensorsView file = save(tensors);
  const std::string text = readFile(folder_ / kModelFile);
  const auto bytes = std::as_bytes(std::span(text));
  const std::span<const std::byte> big = tensors[0].bytes;
  EXPECT_EQ(recorded_.bytes, text.size());
  EXPECT_EQ(recorded_.header, xxh3(bytes.first(bytes.size() - big.size())));
  EXPECT_EQ(recorded_.tensors.at("big"),
            (std::vector<uint64_t>{xxh3(big.first(kChecksumBlockBytes)),
                                   xxh3(big.subspan(kChecksumBlockBytes, kChecksumBlockBytes)),
                                   xxh3(big.subspan(2 * kChecksumBlockBytes))}));
}

TEST(DurableFile, ReportsPathAndReason) {
  TempFolder folder;
  const Status missing = saveTensors(folder / "none/a.safetensors", {});
  EXPECT_EQ(missing.exitCode(), 1);
  EXPECT_THAT(missing.message(), HasSubstr("none/a.safetensors: cannot create: No such file"));
  const FullDisk full(100);
  const Status large = DurableFile::create(folder / "large", 1000).status();
  EXPECT_EQ(large.exitCode(), 1);
  EXPECT_THAT(large.message(), HasSubstr("large: cannot write: File too large"));
}

} // namespace
} // namespace trainc
