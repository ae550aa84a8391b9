#include "runtime/data/formats/foreign_file.h"

#include "runtime/data/philox.h"
#include "test/unit/runtime/data/support.h"

#include <algorithm>

namespace trainc {
namespace {

using namespace test;

std::string kindOf(std::string_view bytes, std::string_view extension = ".bin") {
  const auto kind = findForeignKind(extension, std::as_bytes(std::span(bytes)));
  return kind ? std::string(kind->name) : "tokens";
}

TEST(ForeignFile, TokensAreNoOtherKind) {
  for (uint32_t vocabulary : {2U, 96U, 256U, 50257U, 65536U})
    for (uint32_t file = 0; file < 2000; ++file) {
      std::vector<uint16_t> tokens(16 + file % 500);
      for (uint32_t i = 0; i < tokens.size(); ++i)
        tokens[i] = philox4x32({i, file, 0, 0}, {vocabulary, 0})[0] % vocabulary;
      ASSERT_EQ(kindOf(bytesOf(tokens)), "tokens") << "file " << file << " of vocabulary " << vocabulary;
    }
}

TEST(ForeignFile, NoFirstTokenMakesAnotherKind) {
  for (uint32_t first = 0; first < 65536; ++first)
    ASSERT_EQ(kindOf(bytesOf(std::vector<uint16_t>{static_cast<uint16_t>(first), 7, 3, 0, 1, 2})), "tokens")
        << first;
}

TEST(ForeignFile, OneTokenOfPrintableBytesIsNoText) {
  EXPECT_EQ(kindOf(bytesOf(std::vector<uint16_t>(4000, 12345))), "tokens");
  EXPECT_EQ(kindOf(bytesOf(std::vector<uint32_t>(4000, 0x41424344))), "tokens");
  EXPECT_EQ(kindOf(bytesOf(std::vector<uint16_t>(4000, 12345)) + "\n"), "text");
}

TEST(ForeignFile, ATableOfTwoColumnsBeginsWithTheirNames) {
  std::string table = "review,sentiment\n", prose = "Well, said he\n";
  for (int line = 0; line < 100; ++line) {
    table += "\"A film, and a good one\",1\n";
    prose += "no,said she\n";
  }
  EXPECT_EQ(kindOf(table, ".txt"), "text (CSV)");
  EXPECT_EQ(kindOf(prose, ".txt"), "text");
}

TEST(ForeignFile, TextMayEndWithinACharacter) {
  const std::string text = "Am Anfang schuf Gott Himmel und \u00c4rde\u2026";
  EXPECT_EQ(kindOf(text), "text");
  EXPECT_EQ(kindOf(text.substr(0, text.size() - 1)), "text");
  EXPECT_EQ(kindOf(text.substr(0, text.size() - 2)), "text");
  EXPECT_EQ(kindOf(text.substr(0, 31)), "tokens") << "too short to tell";
  EXPECT_EQ(kindOf(text + std::string(1, '\0')), "tokens");
  EXPECT_EQ(kindOf(text + "\xff more of it"), "tokens");
  EXPECT_EQ(kindOf(text, ".json"), "text (JSON)");
  EXPECT_EQ(kindOf("hello world\n", ".txt"), "text") << "its name tells";
  EXPECT_EQ(kindOf(text, ".jsonl"), "text (lines of JSON)");
  EXPECT_EQ(kindOf("a,b\n1,2\n", ".CSV"), "text (CSV)");
  EXPECT_EQ(kindOf(std::string("h\0e\0", 4), ".txt"), "tokens");
}

TEST(ForeignFile, JsonOfStringsAndArrays) {
  std::string strings, arrays, speech;
  for (int i = 0; i < 10; ++i) {
    strings += fmt::format("\"text {}\"\n", i);
    arrays += fmt::format("[\"text {}\", 1]\n", i);
    speech += fmt::format("\"I am number {}\", she said.\n", i);
  }
  EXPECT_EQ(kindOf(strings), "text (lines of JSON)");
  EXPECT_EQ(kindOf(strings.substr(0, strings.size() - 3)), "text (lines of JSON)") << "cut within a line";
  EXPECT_EQ(kindOf(arrays), "text (lines of JSON)");
  EXPECT_EQ(kindOf(speech), "text");
  EXPECT_EQ(kindOf("\"I am here.\"\n\"So am I, and we wait.\"\n"), "text") << "two quoted lines are prose";
  EXPECT_EQ(kindOf("[\"the first text\", \"the second text\"]\n"), "text (JSON)");
}

TEST(ForeignFile, TextNeedNotBeUtf8) {
  const std::string latin1 = "Die Stra\xdf"
                             "e \xfc"
                             "ber den Flu\xdf, und was am anderen Ufer liegt, kennt niemand.\r\n";
  EXPECT_EQ(kindOf(latin1), "text");
  EXPECT_EQ(kindOf(latin1 + '\x1a'), "text") << "DOS ends files with it";
  EXPECT_EQ(kindOf(latin1, ".csv"), "text (CSV)");
  for (const bool bigEndian : {false, true}) {
    std::string utf16 = bigEndian ? "\xfe\xff" : "\xff\xfe";
    for (const char character : latin1)
      utf16 += bigEndian ? std::string{'\0', character} : std::string{character, '\0'};
    EXPECT_EQ(kindOf(utf16), "text in UTF-16");
    EXPECT_EQ(kindOf(utf16.substr(2)), "tokens") << "just like bytes as tokens";
    EXPECT_EQ(kindOf(utf16.substr(2), ".txt"), "text in UTF-16") << "its name tells";
  }
}

TEST(ForeignFile, TextInUtf32) {
  std::u32string text = U"Die Stra\u00dfe \u00fcber den Flu\u00df, \u4e2d\u6587\r\n";
  std::vector<uint32_t> words = {0xfeff};
  words.insert(words.end(), text.begin(), text.end());
  EXPECT_EQ(kindOf(bytesOf(words)), "text in UTF-32");
  std::vector<uint32_t> swapped(words.size());
  std::ranges::transform(words, swapped.begin(), [](uint32_t word) { return __builtin_bswap32(word); });
  EXPECT_EQ(kindOf(bytesOf(swapped)), "text in UTF-32");
  words.push_back(3);
  EXPECT_EQ(kindOf(bytesOf(words)), "tokens") << "as ids of punctuation";
  EXPECT_EQ(kindOf(bytesOf(words).substr(0, 40)), "tokens") << "too short to tell";
}

TEST(ForeignFile, FilesOfLlmc) {
  const auto file = [](uint32_t magic, uint32_t last = 0) {
    std::vector<uint32_t> header(300);
    header[0] = magic;
    header[1] = 1;
    header[299] = 7;
    header[200] = last;
    return bytesOf(header);
  };
  EXPECT_EQ(kindOf(file(20240522)), "llm.c's file of an evaluation, questions with several answers");
  EXPECT_EQ(kindOf(file(20240328)), "llm.c's file of a tokenizer");
  EXPECT_EQ(kindOf(file(20240326)), "llm.c's file of a model's weights");
  EXPECT_EQ(kindOf(file(20250101)), "a file with a header like llm.c's that is none of tokens");
  EXPECT_EQ(kindOf(file(20250101, 3)), "tokens");
  EXPECT_EQ(kindOf(file(20250001)), "tokens") << "no date";
  EXPECT_EQ(kindOf(file(20240801)), "tokens");
  EXPECT_EQ(kindOf(file(__builtin_bswap32(20240520))), "a file with llm.c's header in big-endian order");
}

TEST(ForeignFile, BinaryFormats) {
  const std::string rest(300, '\xa7');
  EXPECT_EQ(kindOf(std::string("MMIDIDX\0\0", 9) + rest), "an index of Megatron");
  EXPECT_EQ(kindOf("%PDF-1.7" + rest), "a PDF document");
  EXPECT_EQ(kindOf("BZh91AY&SY" + rest), "a bzip2 file");
  EXPECT_EQ(kindOf(std::string("\xff\xff\xff\xff\xa8\3\0\0\x10\0\0\0", 12) + rest), "an Arrow file");
  EXPECT_EQ(kindOf(std::string("\x80\4\x95\x20\1\0\0\0\0\0\0", 11) + rest),
            "a file of Python's pickle, as PyTorch writes it");
  EXPECT_EQ(kindOf(rest.substr(0, 257) + "ustar" + rest), "a tar file");
  EXPECT_EQ(kindOf("ORC" + rest), "an ORC file");
  EXPECT_EQ(kindOf("BZh11AY&SY" + rest), "a bzip2 file");
  EXPECT_EQ(kindOf("LZIP\x01\x0c" + rest), "an lzip file");
  EXPECT_EQ(kindOf("\x1f\x9d\x90" + rest), "a file of compress");
  EXPECT_EQ(kindOf("\x1f\x9d\x07" + rest), "tokens") << "codes of 7 bits";
  EXPECT_EQ(kindOf("RIFF" + rest), "a recording or picture (RIFF)");
  EXPECT_EQ(kindOf("ID3\x04" + rest), "a recording (MP3)");
  EXPECT_EQ(kindOf("\xff\xd8\xff\xdb" + rest), "a picture");
  const std::string program = "MZ" + rest.substr(0, 58) + std::string("\x80\0\0\0", 4) + rest.substr(0, 64);
  EXPECT_EQ(kindOf(program + std::string("PE\0\0", 4)), "a program or library");
  EXPECT_EQ(kindOf(program + rest), "tokens");
}

TEST(ForeignFile, AZlibStreamHasNoFrequentBytes) {
  std::string compressed = "\x78\x9c", tokens = compressed;
  for (uint32_t i = 0; i < 1024; ++i) {
    const uint32_t number = philox4x32({i, 0, 0, 0}, {1, 0})[0];
    compressed += static_cast<char>(number);
    compressed += static_cast<char>(number >> 8);
    tokens += bytesOf(std::vector<uint16_t>{static_cast<uint16_t>(number % 8192)});
  }
  EXPECT_EQ(kindOf(compressed), "a zlib stream");
  EXPECT_EQ(kindOf(tokens), "tokens");
}

TEST(ForeignFile, PicklesOfAllProtocols) {
  const std::string rest(300, '\xa7');
  for (const char protocol : {'\2', '\3'})
    for (const std::string &first :
         {std::string("]q\0(K\1", 6), std::string("}q\0(X", 5), std::string("(K\1K\2"),
          std::string("cnumpy.core.multiarray\n_reconstruct\n")})
      EXPECT_EQ(kindOf("\x80" + (protocol + first) + rest),
                "a file of Python's pickle, as PyTorch writes it");
  EXPECT_EQ(kindOf("(lp0\nI1\naI2\na."), "a file of Python's pickle, as PyTorch writes it");
  EXPECT_EQ(kindOf("(lp of 1920)\n"), "tokens");
  EXPECT_EQ(kindOf("\x80\2" + rest), "tokens");
  EXPECT_EQ(kindOf("\x80\2c\1\2\n" + rest), "tokens");
}

TEST(ForeignFile, TextsInOldEncodingsHaveNoControlCharacters) {
  std::string japanese, tokens;
  for (uint32_t i = 0; i < 200; ++i) {
    const uint32_t number = philox4x32({i, 0, 0, 0}, {2, 0})[0];
    japanese += i % 40 == 39 ? "\n" : "\x82" + std::string(1, static_cast<char>(0x9f + number % 80));
    tokens += bytesOf(std::vector<uint16_t>{static_cast<uint16_t>(number % 60000)});
  }
  EXPECT_EQ(kindOf(japanese), "text in an encoding other than UTF-8 (no byte is a control character)");
  const auto kind = findForeignKind(".bin", asBytes(japanese));
  ASSERT_TRUE(kind.has_value());
  EXPECT_TRUE(kind->forTokens.find("such as WINDOWS-1252 or SHIFT-JIS") != std::string_view::npos)
      << kind->forTokens;
  EXPECT_EQ(kindOf(japanese.substr(0, 200)), "tokens") << "too short to tell";
  EXPECT_EQ(kindOf(japanese + '\x01'), "tokens");
  EXPECT_EQ(kindOf(tokens + "\n"), "tokens");
}

TEST(ForeignFile, ModelsOfSentencePieceAndRecords) {
  // <unk>, <s>, </s> and "a", as sentencepiece 0.2 writes them.
  const std::string pieces(
      "\n\x0e\n\5<unk>\x15\0\0\0\0\x18\2\n\x0c\n\3<s>\x15\0\0\0\0\x18\3\n\x0d\n\4</s>\x15\0\0\0\0"
      "\x18\3\n\x08\n\1a\x15\0\0\x80\xbf",
      16 + 14 + 15 + 10);
  EXPECT_EQ(kindOf(pieces), "a model of SentencePiece");
  EXPECT_EQ(kindOf(pieces.substr(0, pieces.size() - 1)), "tokens");
  // A record of 5 bytes, as TensorFlow 2 writes it.
  const std::string record("\5\0\0\0\0\0\0\0\xea\xb2\x04\x3ehello", 17);
  EXPECT_EQ(kindOf(record), "a file of TFRecords");
  EXPECT_EQ(kindOf("\6" + record.substr(1)), "tokens");
}

TEST(ForeignFile, ADamagedSafetensorsFileIsNoOtherKind) {
  const Folder folder;
  const auto kindIn = [&](const std::string &bytes) {
    const auto kind = findForeignKind(std::filesystem::path(folder.write("w.safetensors", bytes)));
    return kind ? std::string(kind->name) : "none";
  };
  const std::string header = R"({ "a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 9]}})";
  EXPECT_EQ(kindIn(safetensors(header, "")), "none");
  EXPECT_EQ(kindIn(std::string("\x1f\x8b\x08\0\0\0\0\0", 8) + header), "none");
  EXPECT_EQ(kindIn("\x1f\x8b\x08" + header), "a gzip file");
  EXPECT_EQ(kindIn(header), "text (JSON)");
}

TEST(ForeignFile, WordsAtTheStartOfTextsAreNoFormat) {
  const std::string rest = "ESTRA of Leipzig played, and all who could hear it were silent.\n";
  for (const char *word : {"ORC", "RIFF", "MZ", "BZh"})
    EXPECT_EQ(kindOf(word + rest, ".txt"), "text") << word;
}

TEST(ForeignFile, APointerOfGitLfsIsNeitherTextNorTokens) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
  EXPECT_EQ(kindOf(pointer), "a pointer of Git LFS");
  const auto kind = findNonText(".txt", asBytes(pointer), /*anyText=*/true);
  ASSERT_TRUE(kind.has_value());
  EXPECT_EQ(kind->forText, "fetch the file itself: git lfs pull");
}

} // namespace
} // namespace trainc
