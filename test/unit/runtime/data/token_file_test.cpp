#include "runtime/data/token_file.h"

#include "runtime/data/file_patterns.h"
#include "test/unit/runtime/data/support.h"

namespace trainc {
namespace {

using namespace test;

std::string llmcFile(int32_t version, int32_t count, const std::string &tokens) {
  std::vector<int32_t> header(256);
  header[0] = 20240520;
  header[1] = version;
  header[2] = count;
  return bytesOf(header) + tokens;
}

Result<TokenStream> read(const std::string &content, TokenFileOptions options = {}) {
  return readTokenStream("nowhere/f", asBytes(content), content.size(), options);
}

TEST(TokenFile, RawWidthFollowsTheVocabulary) {
  const std::string content = bytesOf<uint16_t>({1, 2, 3, 4});
  const auto narrow = read(content, {std::nullopt, 65536});
  ASSERT_OK(narrow);
  EXPECT_EQ(narrow->dtype, SafetensorsDType::kU16);
  EXPECT_EQ(narrow->count, 4U);
  EXPECT_EQ(narrow->fileOffset, 0U);
  const auto wide = read(content, {std::nullopt, 65537});
  ASSERT_OK(wide);
  EXPECT_EQ(wide->dtype, SafetensorsDType::kU32);
  EXPECT_EQ(wide->count, 2U);
}

TEST(TokenFile, SidecarThenOptionDecideTheWidth) {
  const Folder folder;
  const std::string content = bytesOf<uint32_t>({1, 2});
  const std::string path = folder.write("t.bin", content);
  ASSERT_OK(writeTokenSidecar(path, {{"bytes", 0}, 256, SafetensorsDType::kU32, 2}));
  const auto bySidecar = readTokenStream(path, asBytes(content), content.size(), {});
  ASSERT_OK(bySidecar);
  EXPECT_EQ(bySidecar->dtype, SafetensorsDType::kU32);
  ASSERT_OK(readTokenStream(path, asBytes(content), content.size(), {SafetensorsDType::kU32, 0}));
  EXPECT_INVALID(readTokenStream(path, asBytes(content), content.size(), {SafetensorsDType::kU8, 0}),
                 path + ": " + path +
                     ".json says uint32, --data-dtype says uint8; leave --data-dtype out, or delete the JSON "
                     "file if it belongs to other data");
  const auto byOption = read(content, {SafetensorsDType::kU8, 0});
  ASSERT_OK(byOption);
  EXPECT_EQ(byOption->count, 8U);
}

TEST(TokenFile, HasAsManyTokensAsItsSidecarSays) {
  const Folder folder;
  const std::string content = bytesOf<uint16_t>({1, 2, 3});
  const std::string path = folder.write("t.bin", content);
  folder.write("t.bin.json",
               R"({"tokenizer":"bytes","vocabulary":256,"dtype":"uint16","tokens":4,"tokenizer_xxh3":"0"})");
  EXPECT_INVALID(
      readTokenStream(path, asBytes(content), content.size(), {}),
      path + ": expected 4 tokens of 2 bytes, as " + path +
          ".json says, found 6 bytes; the file is truncated or another one: copy or tokenize it again, or "
          "delete the JSON file");
  ASSERT_OK(readTokenStream(path, asBytes(bytesOf<uint16_t>({1, 2, 3, 4})), 8, {}));
}

TEST(TokenFile, ReadsBothVersionsOfLlmc) {
  const std::string content = llmcFile(1, 3, bytesOf<uint16_t>({5, 6, 7}));
  const auto narrow = read(content, {std::nullopt, 100000});
  ASSERT_OK(narrow);
  EXPECT_EQ(narrow->dtype, SafetensorsDType::kU16);
  EXPECT_EQ(narrow->fileOffset, 1024U);
  EXPECT_EQ(narrow->count, 3U);
  const auto wide = read(llmcFile(7, 2, bytesOf<uint32_t>({5, 100000})));
  ASSERT_OK(wide);
  EXPECT_EQ(wide->dtype, SafetensorsDType::kU32);
  EXPECT_EQ(wide->count, 2U);
}

TEST(TokenFile, RefusesDamage) {
  EXPECT_INVALID(read("abc"),
                 "nowhere/f: byte 2: a file of 3 bytes is no whole number of uint16 tokens (2 bytes each); "
                 "set --data-dtype or repair the file");
  EXPECT_INVALID(read(llmcFile(1, 3, "").substr(0, 100)),
                 "nowhere/f: byte 100: the header of llm.c's format takes 1024 bytes; the file is truncated");
  EXPECT_INVALID(read(llmcFile(2, 3, "123456")),
                 "nowhere/f: byte 4: expected version 1 (uint16) or 7 (uint32) of llm.c's format, found 2");
  EXPECT_INVALID(read(llmcFile(1, 3, "1234")),
                 "nowhere/f: byte 8: the header says 3 tokens of 2 bytes after the first 1024 "
                 "bytes, found 4 bytes; the file is truncated or damaged");
  EXPECT_INVALID(read(llmcFile(1, -3, "")),
                 "nowhere/f: byte 8: the header says -3 tokens of 2 bytes after the first 1024 "
                 "bytes, found 0 bytes; the file is truncated or damaged");
  EXPECT_INVALID(
      read(llmcFile(1, 1, "12"), {SafetensorsDType::kU32, 0}),
      "nowhere/f: byte 4: the header says uint16, --data-dtype says uint32; leave --data-dtype out");
}

TEST(TokenFile, NamesOfDTypes) {
  for (const char *name : {"uint8", "uint16", "uint32"}) {
    const auto dtype = parseTokenDType(name);
    ASSERT_OK(dtype);
    EXPECT_EQ(tokenDTypeName(*dtype), name);
  }
  EXPECT_INVALID(parseTokenDType("int7"), "unknown token dtype 'int7'; expected uint8, uint16 or uint32");
}

TEST(TokenSidecar, RoundTrips) {
  const Folder folder;
  const TokenSidecar written{
      {"/a/tokenizer.json", 0xfedcba9876543210}, 50257, SafetensorsDType::kU16, 12345, 3};
  ASSERT_OK(writeTokenSidecar(folder / "t.bin", written));
  const auto read = readTokenSidecar(folder / "t.bin");
  ASSERT_OK(read);
  ASSERT_TRUE(read->has_value());
  EXPECT_EQ((*read)->tokenizer.name, written.tokenizer.name);
  EXPECT_EQ((*read)->vocabulary, written.vocabulary);
  EXPECT_EQ((*read)->dtype, written.dtype);
  EXPECT_EQ((*read)->tokens, written.tokens);
  EXPECT_EQ((*read)->tokenizer.xxh3, written.tokenizer.xxh3);
  EXPECT_EQ((*read)->content, 3U);
  const auto none = readTokenSidecar(folder / "other.bin");
  ASSERT_OK(none);
  EXPECT_FALSE(none->has_value());
}

TEST(TokenSidecar, IsRefusedWhereItIsThereAndCannotBeRead) {
  const Folder folder;
  std::filesystem::create_symlink("t.bin.json", folder / "t.bin.json"); // to itself
  EXPECT_INVALID(readTokenSidecar(folder / "t.bin"),
                 (folder / "t.bin.json") + ": cannot open: Too many levels of symbolic links");
  std::filesystem::create_symlink("gone", folder / "u.bin.json");
  EXPECT_INVALID(readTokenSidecar(folder / "u.bin"),
                 (folder / "u.bin.json") + ": cannot open: No such file or directory");
  ASSERT_OK(
      readTokenSidecar(folder / std::string(253, 'x'))); // its sidecar would have too long a name to exist
}

TEST(TokenSidecar, RefusesDamage) {
  const Folder folder;
  const std::string path = folder / "t.bin.json";
  const auto read = [&](std::string_view text) {
    folder.write("t.bin.json", text);
    return readTokenSidecar(folder / "t.bin");
  };
  EXPECT_INVALID(read("{"), path + ": not a JSON object; delete it or write it again with `trainc tokenize`");
  const auto missing = [&](const char *field) {
    return fmt::format(
        "{}: expected the fields tokenizer (string), vocabulary and tokens (integers), dtype (string) and "
        "tokenizer_xxh3 (hexadecimal string); '{}' is missing or of another type",
        path, field);
  };
  EXPECT_INVALID(read("{}"), missing("tokenizer"));
  EXPECT_INVALID(read(R"({"tokenizer":"bytes","vocabulary":-1})"), missing("vocabulary"));
  EXPECT_INVALID(read(R"({"tokenizer":"bytes","vocabulary":1,"dtype":"uint16"})"), missing("tokens"));
  EXPECT_INVALID(
      read(R"({"tokenizer":"bytes","vocabulary":1,"dtype":"uint16","tokens":1,"tokenizer_xxh3":"x"})"),
      missing("tokenizer_xxh3"));
  EXPECT_INVALID(
      read(R"({"tokenizer":"bytes","vocabulary":1,"dtype":"f32","tokens":1,"tokenizer_xxh3":"0"})"),
      path + ": unknown token dtype 'f32'; expected uint8, uint16 or uint32");
  EXPECT_INVALID(
      read(R"({"tokenizer":"bytes","vocabulary":0,"dtype":"uint16","tokens":1,"tokenizer_xxh3":"0"})"),
      path + ": expected a vocabulary above 0, found 0; delete it or write it again with `trainc tokenize`");
}

TEST(FilePatterns, ExpandInByteOrder) {
  const Folder folder;
  for (const char *name : {"b2", "B1", "a3", "[x]"})
    folder.write(name, "x");
  const auto all = expandPatterns({folder / "*[1-3]", folder / "[x]"});
  ASSERT_OK(all);
  EXPECT_THAT(*all, testing::ElementsAre(folder / "B1", folder / "a3", folder / "b2", folder / "[x]"));
  EXPECT_INVALID(expandPatterns({folder / "none*"}),
                 folder / "none*" + ": no such file, and no file matches it as a pattern");
  EXPECT_INVALID(expandPatterns({}), "no data files given");
}

} // namespace
} // namespace trainc
