#include "runtime/formats/gguf_file.h"

#include "test/unit/runtime/formats/gguf_builder.h"

namespace trainc {
namespace {

using namespace test;
using testing::ElementsAre;

TEST(GgufFile, GivesMetadataAndTensors) {
  const Folder folder;
  const std::string content = GgufBuilder()
                                  .text("general.architecture", "llama")
                                  .u32("llama.block_count", 2)
                                  .strings("tokens", {"a", "", "c"})
                                  .array<float>("scores", GgufValueType::kFloat32, {0.5F, -1})
                                  .floats("w", {3, 2}, {1, 2, 3, 4, 5, 6})
                                  .floats("b", {2}, {7, 8})
                                  .build();
  const auto file = GgufFile::open(folder.write("x.gguf", content));
  ASSERT_OK(file);
  EXPECT_EQ(file->version(), 3U);
  ASSERT_EQ(file->metadata().size(), 4U);
  EXPECT_EQ(*file->text("general.architecture"), "llama");
  EXPECT_EQ(**file->count("llama.block_count"), 2U);
  EXPECT_EQ(*file->count("llama.other"), std::nullopt);
  EXPECT_THAT((*file->array("tokens", GgufValueType::kString))->strings, ElementsAre("a", "", "c"));
  EXPECT_EQ((*file->array("scores", GgufValueType::kFloat32))->number(1), -1);
  EXPECT_EQ(*file->array("merges", GgufValueType::kString), nullptr);
  ASSERT_EQ(file->tensors().size(), 2U);
  const GgufTensor *w = file->findTensor("w");
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(describe(*w), "F32 [2, 3]");
  EXPECT_EQ(w->elements(), 6U);
  EXPECT_THAT(valuesOf<float>(w->bytes), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(file->findTensor("c"), nullptr);
}

TEST(GgufFile, ReadsVersion2AndOtherAlignments) {
  GgufBuilder builder;
  builder.version = 2;
  builder.alignment = 128;
  const std::string content =
      builder.u32("general.alignment", 128).floats("a", {1}, {1}).floats("b", {1}, {2}).build();
  const auto file = parseGguf(content);
  ASSERT_OK(file);
  EXPECT_EQ(file->tensors()[1].fileOffset % 128, 0U);
  EXPECT_THAT(valuesOf<float>(file->tensors()[1].bytes), ElementsAre(2));
}

TEST(GgufFile, RefusesOtherFilesAndVersions) {
  EXPECT_INVALID(parseGguf("ABCDEFGH"), "f: byte 0: expected the mark 'GGUF'; this is no GGUF file");
  EXPECT_INVALID(parseGguf("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n"),
                 "f: expected a GGUF file, found a pointer of Git LFS; fetch the file itself: git lfs pull");
  GgufBuilder builder;
  builder.version = 1;
  EXPECT_INVALID(parseGguf(builder.build()),
                 "f: byte 4: expected version 2 or 3 of GGUF, found 1; convert the model "
                 "again with a current llama.cpp");
  builder.version = 0x03000000;
  EXPECT_INVALID(
      parseGguf(builder.build()),
      "f: byte 4: expected numbers in little-endian order, found version 3 in big-endian order; convert the "
      "model again for a little-endian machine");
}

TEST(GgufFile, RefusesBadMetadata) {
  EXPECT_INVALID(parseGguf(GgufBuilder().u32("a", 1).u32("a", 2).build()),
                 "f: expected each key once, found 'a' twice; the file is damaged");
  EXPECT_INVALID(parseGguf(GgufBuilder().u32("a\n", 1).build()),
                 "f: byte 24: expected a key of 1 to 1024 bytes without control or invisible characters, "
                 "found 'a\\x0a'");
  EXPECT_INVALID(parseGguf(GgufBuilder().entry("a", GgufValueType{13}, "abcd").build()),
                 "f: byte 33: 'a': expected a type from 0 (uint8) to 12 (float64), found 13");
  EXPECT_INVALID(
      parseGguf(GgufBuilder()
                    .entry("a", GgufValueType::kArray, std::string("\x09\0\0\0\1\0\0\0\0\0\0\0", 12))
                    .build()),
      "f: byte 37: 'a': expected an array of numbers or strings, found one of arrays");
  EXPECT_INVALID(
      parseGguf(
          GgufBuilder()
              .entry("a", GgufValueType::kArray, std::string("\4\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 12))
              .build()),
      "f: byte 49: 18446744073709551615 elements of 'a' do not fit into the 15 bytes that follow; the file "
      "is truncated or damaged");
  EXPECT_INVALID(parseGguf(GgufBuilder().u32("general.alignment", 24).build()),
                 "f: 'general.alignment': expected a power of two of 32 bits, found 24");
  EXPECT_INVALID(parseGguf(GgufBuilder().u32("split.count", 3).build()),
                 "f: expected a whole model, found one of 3 parts; merge them: llama-gguf-split --merge");
  const auto file = parseGguf(GgufBuilder().u32("a", 1).text("b", "x").strings("c", {}).build());
  ASSERT_OK(file);
  EXPECT_INVALID(file->text("a"), "f: expected a string 'a' in the metadata, found a value of another type");
  EXPECT_INVALID(file->text("d"), "f: expected a string 'd' in the metadata, found none");
  EXPECT_INVALID(file->count("b"), "f: 'b': expected an integer that is not negative, found something else");
  EXPECT_INVALID(file->array("b", GgufValueType::kString),
                 "f: 'b': expected an array of string, found no array");
  EXPECT_INVALID(file->array("c", GgufValueType::kInt32),
                 "f: 'c': expected an array of int32, found one of string");
}

TEST(GgufFile, RefusesBadTensors) {
  const std::string four = bytesOf<float>({1});
  EXPECT_INVALID(parseGguf(GgufBuilder().floats("a", {1}, {1}).floats("a", {1}, {2}).build()),
                 "f: expected each name of a tensor once, found 'a' twice; the file is damaged");
  EXPECT_INVALID(parseGguf(GgufBuilder().tensor("a", {}, 0, std::string(8, '\0')).build()),
                 "f: byte 33: tensor 'a': expected 1 to 4 extents, found 0");
  EXPECT_INVALID(parseGguf(GgufBuilder().tensor("a", {1, 1, 1, 1, 1}, 0, four).build()),
                 "f: byte 33: tensor 'a': expected 1 to 4 extents, found 5");
  EXPECT_INVALID(parseGguf(GgufBuilder().tensor("a", {4, 0}, 0, four).build()),
                 "f: byte 33: tensor 'a': expected extents above zero, found one of 0");
  EXPECT_INVALID(
      parseGguf(GgufBuilder().tensor("a", {1}, 99, four).build()),
      "f: byte 33: tensor 'a': expected a known type, such as 0 (F32) or 12 (Q4_K), found 99; it is newer "
      "than this program, or the file is damaged");
  EXPECT_INVALID(
      parseGguf(GgufBuilder().tensor("a", {48, 2}, 8, four).build()),
      "f: byte 33: tensor 'a': expected rows of whole blocks of 32 elements (Q8_0), found rows of 48");
  EXPECT_INVALID(parseGguf(GgufBuilder().tensor("a", {1}, 0, four, 4).build()),
                 "f: tensor 'a': expected an offset that is a multiple of the alignment 32, found 4");
  EXPECT_INVALID(
      parseGguf(GgufBuilder().tensor("a", {2}, 0, four).build()),
      "f: tensor 'a': F32 [2] at offset 0 needs 8 bytes, which reach beyond the 4 bytes after the header; "
      "the file is truncated or damaged");
  EXPECT_INVALID(
      parseGguf(GgufBuilder().tensor("a", {uint64_t{1} << 32, uint64_t{1} << 31}, 0, four).build()),
      "f: tensor 'a': F32 [2147483648, 4294967296] at offset 0 needs more than 2^64 bytes, which reach "
      "beyond the 4 bytes after the header; the file is truncated or damaged");
  EXPECT_INVALID(
      parseGguf(GgufBuilder().tensor("a", {1}, 0, four, ~uint64_t{31}).build()),
      "f: tensor 'a': F32 [1] at offset 18446744073709551584 needs 4 bytes, which reach beyond the 4 bytes "
      "after the header; the file is truncated or damaged");
  EXPECT_INVALID(
      parseGguf(GgufBuilder().floats("a", {16}, std::vector<float>(16)).tensor("b", {4}, 0, "", 32).build()),
      "f: byte 128: tensor 'b' overlaps tensor 'a', whose 64 bytes begin at byte 96");
}

TEST(GgufFile, EveryTruncationIsAnError) {
  const std::string content = GgufBuilder()
                                  .text("general.architecture", "llama")
                                  .strings("tokens", {"a", "bc"})
                                  .array<float>("scores", GgufValueType::kFloat32, {0.5F, -1})
                                  .floats("w", {3, 2}, {1, 2, 3, 4, 5, 6})
                                  .build();
  ASSERT_OK(parseGguf(content));
  for (size_t size = 0; size < content.size(); ++size) {
    const std::string part = content.substr(0, size);
    EXPECT_EQ(parseGguf(part).status().exitCode(), 2) << size;
  }
}

TEST(GgufFile, EveryChangedByteIsAnErrorOrAFile) {
  const std::string content = GgufBuilder()
                                  .text("general.architecture", "llama")
                                  .strings("tokens", {"a", "bc"})
                                  .floats("w", {3, 2}, {1, 2, 3, 4, 5, 6})
                                  .build();
  for (size_t at = 0; at < content.size(); ++at)
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string changed = content;
      changed[at] = static_cast<char>(value);
      const auto file = parseGguf(changed);
      EXPECT_TRUE(file.ok() || file.status().exitCode() == 2) << at;
    }
}

} // namespace
} // namespace trainc
