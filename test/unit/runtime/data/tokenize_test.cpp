#include "runtime/data/tokenize.h"

#include "test/unit/runtime/data/support.h"
#include "test/unit/runtime/data/tokenizer_goldens.h"

#include <unistd.h>

namespace trainc {
namespace {

using namespace test;

TEST(Tokenize, WritesTokensAndSidecar) {
  const Folder folder;
  const std::string first = folder.write("1.txt", "ab");
  folder.write("2.txt", "\xff");
  const std::string output = folder / "t.bin";
  std::vector<uint64_t> progress;
  const auto made = tokenize({.tokenizer = "bytes",
                              .texts = {first, folder / "2*"},
                              .output = output,
                              .endToken = "\n",
                              .progress = [&](uint64_t done, uint64_t total) {
                                progress.push_back(done);
                                EXPECT_EQ(total, 3U);
                                return true;
                              }});
  ASSERT_OK(made);
  EXPECT_EQ(made->files, 2U);
  EXPECT_EQ(made->bytes, 3U);
  EXPECT_EQ(made->tokens, 5U);
  EXPECT_EQ(made->vocabulary, 256U);
  EXPECT_EQ(made->dtype, SafetensorsDType::kU16);
  EXPECT_EQ(readFile(output), bytesOf<uint16_t>({'a', 'b', '\n', 0xff, '\n'}));
  EXPECT_THAT(progress, testing::ElementsAre(2, 3));
  const auto sidecar = readTokenSidecar(output);
  ASSERT_OK(sidecar);
  ASSERT_TRUE(sidecar->has_value());
  EXPECT_EQ((*sidecar)->tokenizer.name, "bytes");
  EXPECT_EQ((*sidecar)->vocabulary, 256U);
  EXPECT_EQ((*sidecar)->tokens, 5U);
  EXPECT_EQ((*sidecar)->dtype, SafetensorsDType::kU16);
  const auto again = openRecordedTokenizer((*sidecar)->tokenizer, output);
  ASSERT_OK(again);
  EXPECT_EQ((*again)->vocabulary(), 256U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}),
            4); // nothing temporary left
}

class TokenizeLongTexts : public testing::TestWithParam<std::string> {};

TEST_P(TokenizeLongTexts, ComeInPieces) {
  const Folder folder;
  std::string text;
  while (text.size() < size_t{9} << 20) // pieces are of 4 MiB
    text += fmt::format("{} of <|endoftext|> waters\n", text.size());
  const std::string output = folder / "t.bin";
  std::vector<uint64_t> progress;
  ASSERT_OK(tokenize({.tokenizer = kTokenizerGoldens + GetParam(),
                      .texts = {folder.write("1.txt", text)},
                      .output = output,
                      .endToken = "",
                      .progress = [&](uint64_t done, uint64_t) {
                        progress.push_back(done);
                        return true;
                      }}));
  EXPECT_GT(progress.size(), 3U);
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  EXPECT_EQ(progress.back(), text.size());
  const auto sidecar = readTokenSidecar(output);
  ASSERT_OK(sidecar);
  auto tokenizer = openRecordedTokenizer((*sidecar)->tokenizer, output);
  ASSERT_OK(tokenizer);
  const std::string bytes = readFile(output);
  const auto narrow = valuesOf<uint16_t>(asBytes(bytes));
  const std::vector<uint32_t> ids(narrow.begin(), narrow.end());
  EXPECT_TRUE(ids == idsOf(**tokenizer, text)) << "not the ids of the whole text";
  EXPECT_TRUE((*tokenizer)->decode(ids) == text);
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, TokenizeLongTexts,
                         testing::Values("/tokenizer.json", "/characters.json"),
                         [](const auto &info) { return info.param.substr(1, info.param.find('.') - 1); });

/// Interrupts the encoding of a text of several pieces, and checks the message.
void interrupt(const std::function<bool(const std::string &text)> &progress,
               const std::function<std::string(const std::string &text)> &message) {
  const Folder folder;
  const std::string text = folder.write("a.txt", std::string(size_t{9} << 20, 'a'));
  const Status status =
      tokenize({"bytes", {text}, folder / "t.bin", "", [&](uint64_t, uint64_t) { return progress(text); }})
          .status();
  EXPECT_EQ(status.message(), message(folder.path()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1); // a.txt
}

TEST(Tokenize, ATextThatIsCutIsAnError) {
  interrupt(
      [](const std::string &text) {
        std::filesystem::resize_file(text, size_t{5} << 20);
        return true;
      },
      [](const std::string &folder) {
        return folder + "/a.txt: byte 5242880: the file was truncated while in use; it had 9437184 bytes";
      });
}

TEST(Tokenize, MayBeStopped) {
  interrupt([](const std::string &) { return false; },
            [](const std::string &folder) {
              return folder + "/t.bin: not written: stopped after 16384 of 9437184 bytes of text";
            });
}

TEST(Tokenize, WidensForLargeVocabularies) {
  const Folder folder;
  std::string json = readFile(kTokenizerGoldens + "/tokenizer.json");
  const std::string old = "\"id\":0,";
  json.replace(json.find(old), old.size(), "\"id\":70000,");
  const std::string entry = "\"<|endoftext|>\":0,";
  json.replace(json.find(entry), entry.size(), "");
  const std::string output = folder / "t.bin";
  ASSERT_OK(tokenize({.tokenizer = folder.write("tokenizer.json", json),
                      .texts = {folder.write("1.txt", "<|endoftext|>")},
                      .output = output,
                      .endToken = "",
                      .progress = nullptr}));
  EXPECT_EQ(readFile(output), bytesOf<uint32_t>({70000}));
}

TEST(Tokenize, NamesWhatIsWrong) {
  const Folder folder;
  const std::string empty = folder.write("empty.txt", "");
  const std::string text = folder.write("a.txt", "a");
  const std::string output = folder / "t.bin";
  EXPECT_INVALID(tokenize({"bytes", {empty}, output, "", nullptr}), empty + ": the text is empty");
  EXPECT_INVALID(tokenize({"bytes", {text}, output, "<|end|>", nullptr}),
                 "the tokenizer 'bytes' has no token '<|end|>' to put after each text");
  EXPECT_INVALID(tokenize({"bytes", {}, output, "", nullptr}), "no data files given");
  EXPECT_INVALID(tokenize({"what", {text}, output, "", nullptr}),
                 "--tokenizer=what: no such file or folder; expected 'bytes', a tokenizer.json, a vocab.json "
                 "or merges.txt, or their folder");
  const Status unwritable = tokenize({"bytes", {text}, folder / "no/t.bin", "", nullptr}).status();
  EXPECT_EQ(unwritable.exitCode(), 1);
  EXPECT_EQ(unwritable.message(), folder / "no/t.bin" + ": cannot write: No such file or directory");
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST(Tokenize, FullDiskLeavesNothing) {
  if (!std::filesystem::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full";
  const Folder folder;
  const std::string output = folder / "t.bin";
  // The writer's temporary file becomes a link to a device that is always full.
  std::filesystem::create_symlink("/dev/full", fmt::format("{}.{}.tmp", output, ::getpid()));
  const Status status = tokenize({"bytes", {folder.write("a.txt", "a")}, output, "", nullptr}).status();
  EXPECT_EQ(status.exitCode(), 1);
  EXPECT_EQ(status.message(), output + ": cannot write: No space left on device");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1); // a.txt
}

TEST(Tokenize, AFullDiskEndsTheWork) {
  if (!std::filesystem::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full";
  for (const auto &tokenizer : std::vector<std::string>{"bytes", kTokenizerGoldens + "/tokenizer.json"}) {
    const Folder folder;
    const std::string output = folder / "t.bin";
    std::filesystem::create_symlink("/dev/full", fmt::format("{}.{}.tmp", output, ::getpid()));
    std::string text;
    for (int i = 0; i < 400000; ++i)
      text += fmt::format("{}<|endoftext|>\n", i);
    int pieces = 0;
    const Status status = tokenize({tokenizer,
                                    {folder.write("a.txt", text)},
                                    output,
                                    "",
                                    [&](uint64_t, uint64_t) {
                                      ++pieces;
                                      return true;
                                    }})
                              .status();
    EXPECT_EQ(status.message(), output + ": cannot write: No space left on device");
    EXPECT_EQ(pieces, 0) << tokenizer;
    EXPECT_FALSE(std::filesystem::exists(output));
  }
}

TEST(Tokenize, NoRoomForTheSidecarLeavesTheOldTokens) {
  if (!std::filesystem::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full";
  const Folder folder;
  const std::string output = folder.write("t.bin", "old");
  std::filesystem::create_symlink("/dev/full", fmt::format("{}.json.{}.tmp", output, ::getpid()));
  const Status status = tokenize({"bytes", {folder.write("a.txt", "new")}, output, "", nullptr}).status();
  EXPECT_EQ(status.message(), output + ".json: cannot write: No space left on device");
  EXPECT_EQ(readFile(output), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2); // t.bin, a.txt
}

TEST(OpenRecordedTokenizer, NoticesChanges) {
  EXPECT_INVALID(openRecordedTokenizer({"bytes", 0x12}, "t.bin.json"),
                 "t.bin.json: the tokenizer 'bytes' has changed since (XXH3 0000000000000000, then "
                 "0000000000000012); tokenize again, or give --tokenizer");
  EXPECT_INVALID(
      openRecordedTokenizer({"/none/tokenizer.json", 0x12}, "t.bin.json"),
      "t.bin.json names the tokenizer '/none/tokenizer.json', which cannot be opened; give --tokenizer: "
      "/none/tokenizer.json: cannot open: No such file or directory");
}

} // namespace
} // namespace trainc
