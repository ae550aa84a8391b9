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
  folder.write("2.txt", "\xc3\xbc");
  const std::string output = folder / "t.bin";
  std::vector<uint64_t> progress;
  const auto made = tokenize({.tokenizer = "bytes",
                              .texts = {first, folder / "2*"},
                              .output = output,
                              .endToken = "\n",
                              .progress = [&](uint64_t done, uint64_t total) {
                                progress.push_back(done);
                                EXPECT_EQ(total, 4U);
                                return true;
                              }});
  ASSERT_OK(made);
  EXPECT_EQ(made->files, 2U);
  EXPECT_EQ(made->bytes, 4U);
  EXPECT_EQ(made->tokens, 6U);
  EXPECT_EQ(made->vocabulary, 256U);
  EXPECT_EQ(made->dtype, SafetensorsDType::kU16);
  EXPECT_EQ(readFile(output), bytesOf<uint16_t>({'a', 'b', '\n', 0xc3, 0xbc, '\n'}));
  EXPECT_THAT(progress, testing::ElementsAre(2, 4));
  const auto sidecar = readTokenSidecar(output);
  ASSERT_OK(sidecar);
  ASSERT_TRUE(sidecar->has_value());
  EXPECT_EQ((*sidecar)->tokenizer.name, "bytes");
  EXPECT_EQ((*sidecar)->vocabulary, 256U);
  EXPECT_EQ((*sidecar)->tokens, 6U);
  EXPECT_EQ((*sidecar)->tokenizer.endToken, "\n");
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
  const bool keepsNewlines = GetParam() == "/tokenizer.json" || GetParam() == "/characters.json";
  EXPECT_EQ((*tokenizer)->decode(ids) == text, keepsNewlines);
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, TokenizeLongTexts,
                         testing::Values("/tokenizer.json", "/characters.json", "/word_piece.json",
                                         "/unigram.json"),
                         [](const auto &info) { return info.param.substr(1, info.param.find('.') - 1); });

/// Interrupts the encoding of a text of several pieces, and checks the message.
void interrupt(const std::function<bool(const std::string &text)> &progress,
               const std::function<std::string(const std::string &text)> &message) {
  const Folder folder;
  const std::string text = folder.write("a.txt", std::string(size_t{9} << 20, 'a'));
  const Status status =
      tokenize(
          {"bytes", {text}, folder / "t.bin", "", false, [&](uint64_t, uint64_t) { return progress(text); }})
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
  const std::string entry = "\"<|endoftext|>\":0,";
  json.replace(json.find(entry), entry.size(), "\"<|endoftext|>\":70000,");
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
  EXPECT_INVALID(tokenize({"bytes", {empty}, output, "", false, nullptr}), empty + ": the text is empty");
  const std::string mark = folder.write("mark.txt", "\xef\xbb\xbf");
  EXPECT_INVALID(tokenize({"bytes", {mark}, output, "", false, nullptr}), mark + ": the text is empty");
  EXPECT_INVALID(tokenize({"bytes", {text}, output, "<|end|>", false, nullptr}),
                 "the tokenizer 'bytes' has no token '<|end|>' to put after each text");
  EXPECT_INVALID(tokenize({"bytes", {}, output, "", false, nullptr}), "no data files given");
  EXPECT_INVALID(tokenize({"what", {text}, output, "", false, nullptr}),
                 "--tokenizer=what: no such file or folder; expected 'bytes', a tokenizer.json, a vocab.json "
                 "or merges.txt, BERT's vocab.txt, their folder, or a .gguf file");
  const Status unwritable = tokenize({"bytes", {text}, folder / "no/t.bin", "", false, nullptr}).status();
  EXPECT_EQ(unwritable.exitCode(), 1);
  EXPECT_EQ(unwritable.message(), folder / "no/t.bin" + ": cannot write: No such file or directory");
  EXPECT_FALSE(std::filesystem::exists(output));
}

/// A file that is no text is named, whatever the tokenizer; nothing is written.
TEST(Tokenize, TakesTextsAlone) {
  const Folder folder;
  const auto refusal = [&](std::string_view name, const std::string &content, bool anyText = false) {
    const std::string path = folder.write(name, content);
    for (const std::string &tokenizer : {std::string("bytes"), kTokenizerGoldens + "/tokenizer.json"}) {
      const Status status = tokenize({tokenizer, {path}, folder / "t.bin", "", anyText, nullptr}).status();
      EXPECT_FALSE(std::filesystem::exists(folder / "t.bin")) << name;
      EXPECT_EQ(status.exitCode(), 2) << name;
      if (status.ok() || !status.message().starts_with(path + ": "))
        return status.message();
      if (tokenizer != "bytes")
        return status.message().substr(path.size() + 2);
    }
    return std::string();
  };
  using testing::StartsWith;
  const std::string line = "Gr\xc3\xbc\xc3\x9f"
                           "e, this is a text of some length\n";
  const auto found = [](const std::string &kind) {
    return StartsWith("expected plain text in UTF-8, found " + kind);
  };
  EXPECT_THAT(refusal("a.gz", "\x1f\x8b\x08" + line), found("a gzip file; unpack it first"));
  EXPECT_THAT(refusal("a.txt", std::string("\xff\xfeG\0r\0", 6)),
              found("text in UTF-16; save it as UTF-8: iconv"));
  EXPECT_THAT(refusal("a.npy", "\x93NUMPY" + line), found("a NumPy array"));
  EXPECT_THAT(refusal("a.pdf", "%PDF-1.4\n" + line), found("a PDF document"));
  EXPECT_THAT(refusal("a.so", "\x7f"
                              "ELF" +
                                  line),
              found("a program or library"));
  EXPECT_THAT(refusal("a", bytesOf<uint64_t>({12}) + "{\"a\":{}}   "), found("a safetensors file"));
  EXPECT_THAT(refusal("a.bin", bytesOf<uint16_t>({'a', 'b', 'c'})), found("a binary file, such as tokens"));
  EXPECT_THAT(refusal("a.pkl", "\x80\x03X" + line), found("a file of Python's pickle"));
  EXPECT_THAT(refusal("a.pt", std::string("PK\x03\x04", 4) + line), found("a zip file"));
  EXPECT_THAT(refusal("a.parquet", "PAR1" + line), found("a Parquet file"));
  const std::string objects = "{\"text\": \"one\"}\n{\"text\": \"two\"}\n";
  EXPECT_THAT(refusal("a.jsonl", objects),
              found("text (lines of JSON); write the text alone to a file (as jq"));
  EXPECT_THAT(refusal("a.txt", objects), found("text (lines of JSON)"));
  EXPECT_THAT(refusal("a.TXT", "\xef\xbb\xbf" + objects), found("text (lines of JSON)"));
  EXPECT_THAT(refusal("b.JSONL", "{\"text\": \"one\"}\n"), found("text (lines of JSON)"));
  EXPECT_THAT(refusal("u.txt", std::string("\xff\xfe\0\0G\0\0\0", 8)), found("text in UTF-32"));
  EXPECT_THAT(refusal("b.jsonl", "{\"text\": \"one\"}\n"), found("text (lines of JSON)"));
  EXPECT_THAT(refusal("a.json", "{\n  \"text\": \"one\"\n}\n"),
              found("text (JSON); write the texts alone to a file (as jq"));
  for (const char *json : {"{\"text\": \"one\"}\n", "[\n  {\"text\": \"one\"},\n  {\"text\": \"two\"}\n]\n",
                           " [{\"text\": \"cut"})
    EXPECT_THAT(refusal("array.txt", json), found("text (JSON)")) << json;
  for (const char *page : {"<!DOCTYPE html>\n<html>404 Not Found</html>\n", "\n<HTML lang=\"en\">",
                           "<?xml version=\"1.0\"?>\n<feed/>\n"})
    EXPECT_THAT(refusal("page.txt", page), found("text (HTML or XML); write the text alone to a file"))
        << page;
  EXPECT_THAT(refusal("a.csv", "id,text\n1,one\n"), found("text (CSV)"));
  std::string table;
  for (int i = 0; i < 9; ++i)
    table += fmt::format("{},\"one, two\",three\n", i);
  EXPECT_THAT(refusal("a.txt", table), found("text (CSV)"));

  const std::string latin1 = "Stra\xdf"
                             "e, and more of it";
  EXPECT_EQ(
      refusal("l.txt", latin1),
      "byte 4: expected text in UTF-8, found the byte 0xdf; it looks like text in Latin-1, Windows-1252 or "
      "another old encoding: save it as UTF-8 (as iconv -f WINDOWS-1252 -t UTF-8 FILE > text.txt does)");
  EXPECT_THAT(refusal("cut.txt", line + "\xe2\x82"),
              StartsWith(fmt::format("byte {}: expected text", line.size())));
  const std::string late(5000000, 'x');
  EXPECT_THAT(refusal("late.txt", late + "\xff" + line), StartsWith("byte 5000000: expected text in UTF-8"));
  EXPECT_THAT(
      refusal("b.txt", line + std::string("\x01\x80\x05\xff\x80\x81\x82\x83\xf3\xf4\xf5\xf6\xf7\xf8", 14)),
      testing::HasSubstr("expected text in UTF-8, found the byte 0x80; it looks like a binary file"));
}

TEST(Tokenize, TakesWhateverIsText) {
  const Folder folder;
  const auto accepted = [&](std::string_view name, const std::string &content, bool anyText = false) {
    const Status status =
        tokenize({"bytes", {folder.write(name, content)}, folder / "t.bin", "", anyText, nullptr}).status();
    EXPECT_TRUE(status.ok()) << status.message();
  };
  accepted("list.txt", "[1] A list of sources\n[2] and {more}\n");
  accepted("set.txt", "{ x | x > 0 }\n");
  accepted("a.md", "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n");
  accepted("a.py", "def f(x, y):\n\treturn {x: y}\n" + std::string(20, '\n') + "f(1, 2)\n");
  std::string prose, tabs;
  for (int i = 0; i < 20; ++i) {
    prose += "First, the one, then the other, and then all.\n";
    tabs += "\tx = y\n";
  }
  accepted("a.txt", prose);
  accepted("b.txt", tabs);
  accepted("bom.txt", "\xef\xbb\xbf" + prose);
  accepted("short.txt", "a");
  accepted("zero.txt", prose + std::string(1, '\0') + prose);
  const std::string sign = "\xe2\x82\xac";
  std::string euros;
  while (euros.size() < (size_t{4} << 20) + 30) // pieces end within a character
    euros += sign;
  accepted("euros.txt", euros);
  accepted("a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n", /*anyText=*/true);
  accepted("a.csv", "id,text\n1,one\n", /*anyText=*/true);
  accepted("a.json", "[{\"text\": \"one\"}]\n", /*anyText=*/true);
}

/// Some editors write U+FEFF at the beginning of a text, which is no part of it.
TEST(Tokenize, ByteOrderMarkIsLeftOut) {
  const Folder folder;
  const auto tokensOf = [&](const std::string &content) {
    const auto made =
        tokenize({"bytes", {folder.write("a.txt", content)}, folder / "t.bin", "", false, nullptr});
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? made->tokens : 0;
  };
  const std::string mark = "\xef\xbb\xbf";
  EXPECT_EQ(tokensOf(mark + "abc"), 3);
  EXPECT_EQ(tokensOf("abc" + mark), 6); // elsewhere it is a character
}

TEST(Tokenize, FullDiskLeavesNothing) {
  if (!std::filesystem::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full";
  const Folder folder;
  const std::string output = folder / "t.bin";
  // The writer's temporary file becomes a link to a device that is always full.
  std::filesystem::create_symlink("/dev/full", fmt::format("{}.{}.tmp", output, ::getpid()));
  const Status status =
      tokenize({"bytes", {folder.write("a.txt", "a")}, output, "", false, nullptr}).status();
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
                                    false,
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
  const Status status =
      tokenize({"bytes", {folder.write("a.txt", "new")}, output, "", false, nullptr}).status();
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
