#include "runtime/formats/safetensors_view.h"

#include "test/unit/runtime/data/support.h"

namespace trainc {
namespace {

using namespace test;

Result<SafetensorsView> parse(const std::string &content) {
  return SafetensorsView::parse("f", asBytes(content));
}

TEST(SafetensorsView, GivesNamesShapesBytesAndMetadata) {
  const Folder folder;
  const std::string data = bytesOf<float>({1, 2, 3, 4, 5, 6}) + bytesOf<int64_t>({7});
  const std::string path = folder.write(
      "x.safetensors",
      safetensors(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I64","shape":[],"data_offsets":[24,32]},)"
                  R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}   )",
                  data));
  const auto view = SafetensorsView::open(path);
  ASSERT_OK(view);
  EXPECT_EQ(view->path(), path);
  EXPECT_EQ(view->names(), "a, b");
  EXPECT_THAT(view->metadata(), testing::ElementsAre(testing::Pair("format", "pt")));
  ASSERT_EQ(view->tensors().size(), 2U);
  EXPECT_EQ(view->tensors()[0].name, "a");
  const SafetensorsTensor *a = view->find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->dtype, SafetensorsDType::kF32);
  EXPECT_THAT(a->shape, testing::ElementsAre(2, 3));
  EXPECT_EQ(a->elements(), 6U);
  EXPECT_THAT(valuesOf<float>(a->bytes), testing::ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(describe(*a), "F32 [2, 3]");
  const SafetensorsTensor *b = view->find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->elements(), 1U);
  EXPECT_EQ(b->fileOffset, std::filesystem::file_size(path) - 8);
  EXPECT_EQ(view->find("c"), nullptr);
}

TEST(SafetensorsView, KnowsEmptyTensorsAndFiles) {
  const auto empty = parse(safetensors("{}", ""));
  ASSERT_OK(empty);
  EXPECT_EQ(empty->names(), "none");
  const auto zero = parse(safetensors(R"({"z":{"dtype":"F16","shape":[0,3],"data_offsets":[0,0]}})", ""));
  ASSERT_OK(zero);
  EXPECT_EQ(zero->find("z")->elements(), 0U);
}

TEST(SafetensorsView, SizesOfAllDTypes) {
  EXPECT_EQ(elementBytes(SafetensorsDType::kF64), 8U);
  EXPECT_EQ(elementBytes(SafetensorsDType::kBF16), 2U);
  EXPECT_EQ(elementBytes(SafetensorsDType::kBool), 1U);
  EXPECT_EQ(dtypeName(SafetensorsDType::kF8E4M3), "F8_E4M3");
}

TEST(SafetensorsView, NamesThatATerminalWouldObeyAreSpelledOut) {
  const auto named = [](const std::string &name, const std::string &dtype) {
    return parse(safetensors(
        fmt::format(R"({{"{}":{{"dtype":"{}","shape":[1],"data_offsets":[0,4]}}}})", name, dtype), "abcd"));
  };
  EXPECT_INVALID(
      named("a\\u001b[2J\\nerror", "F32"),
      "f: expected names of tensors without control or invisible characters, found 'a\\x1b[2J\\x0aerror'");
  EXPECT_INVALID(named("a\xc2\x9b"
                       "b",
                       "F32"),
                 "f: expected names of tensors without control or invisible characters, found 'a\\x9bb'");
  EXPECT_INVALID(named("a", "F\\n"),
                 "f: tensor 'a': unknown dtype 'F\\x0a'; known are F64, F32, F16, BF16, I64 to "
                 "I8, U64 to U8, BOOL, F8_E4M3, F8_E5M2");
}

TEST(SafetensorsView, RefusesBadHeaders) {
  EXPECT_INVALID(parse("abc"),
                 "f: byte 0: expected a safetensors header length of 8 bytes, found a file of 3 bytes");
  EXPECT_INVALID(
      parse("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n"),
      "f: expected a safetensors file, found a pointer of Git LFS; fetch the file itself: git lfs pull");
  EXPECT_INVALID(
      parse("The quick brown fox"),
      "f: byte 0: expected a safetensors header length of at most 100000000, found 7163385811044755540; is "
      "this a safetensors file?");
  EXPECT_INVALID(parse(bytesOf<uint64_t>({20}) + "{}"),
                 "f: byte 0: the header length 20 reaches beyond the end of the "
                 "file (10 bytes); the file is truncated");
  EXPECT_INVALID(parse(safetensors("{\"a\":", "")),
                 "f: byte 8: the 5 bytes of header are not a JSON object; the file is "
                 "damaged or not safetensors");
  EXPECT_INVALID(
      parse(safetensors("[]", "")),
      "f: byte 8: the 2 bytes of header are not a JSON object; the file is damaged or not safetensors");
  EXPECT_INVALID(parse(safetensors(R"({"a":1,"a":2})", "")),
                 "f: the header has 'a' twice; the file is damaged");
  EXPECT_INVALID(parse(safetensors(R"({"__metadata__":[]})", "")),
                 "f: header: __metadata__ must be an object of strings, found array");
  EXPECT_INVALID(parse(safetensors(R"({"__metadata__":{"k":1}})", "")),
                 "f: header: __metadata__ 'k' must be a string, found number");
}

TEST(SafetensorsView, RefusesBadTensors) {
  const auto one = [](std::string_view entry) {
    return parse(safetensors(fmt::format(R"({{"a":{}}})", entry), "12345678"));
  };
  EXPECT_INVALID(one("3"),
                 "f: tensor 'a': expected an object with dtype, shape and data_offsets, found number");
  EXPECT_INVALID(one("{}"), "f: tensor 'a': expected a string 'dtype'");
  EXPECT_INVALID(one(R"({"dtype":"F4"})"),
                 "f: tensor 'a': unknown dtype 'F4'; known are F64, F32, F16, BF16, I64 to I8, "
                 "U64 to U8, BOOL, F8_E4M3, F8_E5M2");
  EXPECT_INVALID(one(R"({"dtype":"F32"})"),
                 "f: tensor 'a': expected an array 'shape' of non-negative integers");
  EXPECT_INVALID(one(R"({"dtype":"F32","shape":[-1]})"),
                 "f: tensor 'a': expected an array 'shape' of non-negative integers, found -1 in it");
  EXPECT_INVALID(one(R"({"dtype":"F32","shape":[2],"data_offsets":[8]})"),
                 "f: tensor 'a': data_offsets must be [begin, end] with begin <= end");
  EXPECT_INVALID(one(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"),
                 "f: tensor 'a': data_offsets must be [begin, end] with begin <= end");
  EXPECT_INVALID(
      one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,12]})"),
      "f: tensor 'a': byte 63: data_offsets [0, 12] reach beyond the 8 bytes after the header; the file is "
      "truncated or damaged");
  EXPECT_INVALID(one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"),
                 "f: tensor 'a': byte 62: F32 [3] needs 12 bytes, data_offsets give 8");
  EXPECT_INVALID(
      one(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})"),
      "f: tensor 'a': byte 82: F32 [4294967296, 4294967296] needs more than 2^64 bytes, data_offsets give 8");
}

TEST(SafetensorsView, RefusesOverlapsHolesAndRests) {
  const auto two = [](int begin, int end, std::string_view data) {
    return parse(safetensors(fmt::format(R"({{"a":{{"dtype":"U8","shape":[4],"data_offsets":[0,4]}},)"
                                         R"("b":{{"dtype":"U8","shape":[4],"data_offsets":[{},{}]}}}})",
                                         begin, end),
                             data));
  };
  EXPECT_TRUE(two(4, 8, "12345678").ok());
  EXPECT_INVALID(two(2, 6, "123456"), "f: byte 115: tensor 'b' overlaps the tensor before it; expected it at "
                                      "byte 117, after the previous tensor");
  EXPECT_INVALID(
      two(5, 9, "123456789"),
      "f: byte 118: tensor 'b' leaves a hole before it; expected it at byte 117, after the previous tensor");
  EXPECT_INVALID(two(4, 8, "1234567890"), "f: byte 121: 2 bytes after the last tensor belong to no tensor");
}

} // namespace
} // namespace trainc
