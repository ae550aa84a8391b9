#include "runtime/data/formats/token_file.h"

#include "base/small_float.h"
#include "runtime/data/file_patterns.h"
#include "runtime/data/formats/foreign_file.h"
#include "runtime/data/formats/token_stream.h"
#include "runtime/data/philox.h"
#include "test/unit/runtime/data/support.h"

#include <cmath>

namespace trainc {
namespace {

using namespace test;

std::string llmcFile(int32_t version, int32_t count, const std::string &tokens, int32_t magic = 20240520) {
  std::vector<int32_t> header(256);
  header[0] = magic;
  header[1] = version;
  header[2] = count;
  return bytesOf(header) + tokens;
}

Result<TokenStream> readTokenStream(const std::filesystem::path &path, std::span<const std::byte> head,
                                    uint64_t fileBytes, const TokenFileOptions &options) {
  return (hasLlmcTokenHeader(head) ? findLlmcTokens : findRawTokens)(path, head, fileBytes, options);
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
  const auto llama3 = read(llmcFile(7, 2, bytesOf<uint32_t>({5, 100000}), 20240801), {std::nullopt, 65536});
  ASSERT_OK(llama3);
  EXPECT_EQ(llama3->dtype, SafetensorsDType::kU32);
  EXPECT_EQ(llama3->fileOffset, 1024U);
  EXPECT_THAT(read(llmcFile(1, 2, "1234", 20240522)).status().message(),
              testing::HasSubstr("found llm.c's file of an evaluation, questions with several answers; "));
}

/// Ids that spread over a vocabulary.
template <typename Id> std::string idsBelow(uint64_t vocabulary) {
  std::vector<Id> ids(4000);
  for (uint64_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<Id>(i * i * 40503 % vocabulary);
  return bytesOf(ids);
}

TEST(TokenFile, NoticesAnotherWidth) {
  const auto looksLike = [](const std::string &content, uint64_t vocabulary) {
    const auto stream = read(content, {std::nullopt, vocabulary});
    const std::string message = stream.ok() ? "" : stream.status().message();
    const size_t at = message.find("the file looks like ");
    return at == std::string::npos ? message : message.substr(at + 20, message.find(';', at) - at - 20);
  };
  EXPECT_EQ(looksLike(idsBelow<uint32_t>(50257), 50257), "uint32");
  EXPECT_EQ(looksLike(idsBelow<uint32_t>(128256), 65536), "uint32");
  EXPECT_EQ(looksLike(idsBelow<uint32_t>(200), 256), "uint32");
  EXPECT_EQ(looksLike(idsBelow<uint64_t>(50257), 50257), "int64");
  EXPECT_EQ(looksLike(idsBelow<uint64_t>(50257), 128256), "int64");
  EXPECT_EQ(looksLike(idsBelow<uint16_t>(50257), 128256), "uint16");
  EXPECT_EQ(looksLike(idsBelow<uint8_t>(200), 200), "uint8");
  EXPECT_EQ(
      looksLike(idsBelow<uint16_t>(50257), 256),
      "nowhere/f: 3973 of the first 4000 tokens are beyond the model's vocabulary of 256 (the largest is "
      "50238); was the file made with another tokenizer, or with another --data-dtype than uint16?");
  for (const uint64_t vocabulary : {2, 16, 200, 256, 1000, 50257, 65536})
    EXPECT_EQ(looksLike(idsBelow<uint16_t>(vocabulary), vocabulary), "") << vocabulary;
  for (const uint64_t vocabulary : {65537, 128256, 200000})
    EXPECT_EQ(looksLike(idsBelow<uint32_t>(vocabulary), vocabulary), "") << vocabulary;
  EXPECT_EQ(looksLike(std::string(8000, '\0'), 256), "") << "all the same";
  EXPECT_INVALID(
      read(idsBelow<uint32_t>(50257), {std::nullopt, 50257}),
      "nowhere/f: expected uint16 tokens, as the model's vocabulary of 50257 says, but the file looks "
      "like uint32; add nowhere/f.json, in which trainc tokenize records the width, or give "
      "--data-dtype=uint32, or --data-dtype=uint16 if it is right");
  // Tokens of 16 bits that are each followed by the token 0 have the same bytes.
  std::string alternating;
  for (uint32_t i = 0; i < 5000; ++i)
    alternating += bytesOf<uint16_t>({static_cast<uint16_t>(1 + i % 5000), 0});
  EXPECT_THAT(read(alternating, {std::nullopt, 50257}).status().message(),
              testing::HasSubstr("or give --data-dtype=uint32, or --data-dtype=uint16 if it is right"));
  ASSERT_OK(read(alternating, {SafetensorsDType::kU16, 50257}));
  ASSERT_OK(read(idsBelow<uint32_t>(50257), {SafetensorsDType::kU16, 50257}));
}

/// Numbers that are spread like those of a text: half of them are small.
uint32_t spread(uint32_t i) { return i * i * 40503 % (i % 2 == 0 ? 50257 : 97); }

/// `count` numbers of a file, by the index of each.
template <typename T, typename Make> std::string numbers(Make make, uint32_t count = 5000) {
  std::vector<T> values(count);
  for (uint32_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(make(i));
  return bytesOf(values);
}

/// Ids of which the first are the most frequent, as a tokenizer's are: half of them are below 224.
uint32_t frequentFirst(uint32_t i) {
  const double uniform = philox4x32({i, 0, 0, 0}, {1, 0})[0] / 4294967296.0;
  return static_cast<uint32_t>(std::pow(50257.0, uniform)) - 1;
}

TEST(TokenFile, NoticesNumbersThatAreNoTokens) {
  const auto looksLike = [](const std::string &content, uint64_t vocabulary) {
    const auto stream = read(content, {std::nullopt, vocabulary});
    const std::string message = stream.ok() ? "" : stream.status().message();
    const size_t at = message.find("the file looks like ");
    return at == std::string::npos ? message : message.substr(at + 20, message.find(';', at) - at - 20);
  };
  const auto weight = [](uint32_t i) { return (i % 3 ? 0.02 : -0.7) * std::sin(i * 1.7); };
  for (const uint64_t vocabulary : {256, 50257, 65536, 128256}) {
    EXPECT_EQ(looksLike(numbers<float>(weight), vocabulary), "float32") << vocabulary;
    EXPECT_EQ(looksLike(numbers<double>(weight), vocabulary), "float64") << vocabulary;
    EXPECT_EQ(looksLike(numbers<float>(spread), vocabulary), "float32") << "whole, " << vocabulary;
    EXPECT_EQ(looksLike(numbers<double>(spread), vocabulary), "float64") << "whole, " << vocabulary;
    EXPECT_EQ(
        looksLike(numbers<uint32_t>([](uint32_t i) { return __builtin_bswap32(spread(i)); }), vocabulary),
        "uint32 in big-endian order")
        << vocabulary;
    EXPECT_EQ(
        looksLike(numbers<uint64_t>([](uint32_t i) { return __builtin_bswap64(spread(i)); }), vocabulary),
        "int64 in big-endian order")
        << vocabulary;
  }
  EXPECT_EQ(looksLike(numbers<uint16_t>([&](uint32_t i) { return Float16::nearest(weight(i)).bits; }), 65536),
            "float16");
  EXPECT_EQ(
      looksLike(numbers<uint16_t>([&](uint32_t i) { return BFloat16::nearest(weight(i)).bits; }), 65536),
      "bfloat16");
  const auto fraction = [](uint32_t i) { return (i * 2654435761U >> 8) / 16777216.0; };
  EXPECT_EQ(
      looksLike(numbers<uint16_t>([&](uint32_t i) { return Float16::nearest(fraction(i)).bits; }), 50257),
      "float16");
  EXPECT_EQ(
      looksLike(numbers<uint16_t>([&](uint32_t i) { return BFloat16::nearest(fraction(i)).bits; }), 50257),
      "bfloat16");
  EXPECT_EQ(looksLike(numbers<uint16_t>([](uint32_t i) { return ('A' + spread(i) % 40) << 8; }), 65536),
            "uint16 in big-endian order, or text in UTF-16");
  for (const uint64_t vocabulary : {50257, 65536}) {
    const auto swapped = [](uint32_t i) { return frequentFirst(i) % 256 << 8 | frequentFirst(i) / 256; };
    EXPECT_EQ(looksLike(numbers<uint16_t>(swapped, 30000), vocabulary),
              "uint16 in big-endian order, or text in UTF-16")
        << vocabulary;
    EXPECT_EQ(
        looksLike(numbers<uint8_t>([](uint32_t i) { return frequentFirst(i) % 200; }, 30000), vocabulary),
        "uint8")
        << vocabulary;
  }
  // NumPy's default for a few ids, such as those of bases.
  const auto base = [](uint32_t i) { return i * i * 40503 / 7 % 5; };
  for (const uint64_t vocabulary : {5, 256, 50257, 65536}) {
    EXPECT_EQ(looksLike(numbers<int64_t>(base), vocabulary), "int64") << vocabulary;
    EXPECT_EQ(looksLike(numbers<int32_t>(base), vocabulary), "uint32") << vocabulary;
    EXPECT_EQ(looksLike(numbers<int64_t>(base, 60), vocabulary), "int64") << "few, " << vocabulary;
  }
  EXPECT_EQ(looksLike(numbers<int64_t>(base), 128256), "int64");
  const auto outlier = [](uint32_t i) { return i == 700 ? -100 : static_cast<int32_t>(spread(i)); };
  EXPECT_EQ(looksLike(numbers<int32_t>(outlier), 50257), "int32 with negative numbers");
  EXPECT_EQ(looksLike(numbers<int64_t>(outlier), 50257), "int64 with negative numbers");
  EXPECT_INVALID(
      read(numbers<float>(weight), {std::nullopt, 256}),
      "nowhere/f: expected uint16 tokens, as the model's vocabulary of 256 says, but the file looks "
      "like float32; if its numbers are whole, write it anew in Python: numpy.fromfile('FILE', "
      "'float32').astype('uint32').tofile('tokens.bin'), or give --data-dtype=uint16 if it is right");
  ASSERT_OK(read(numbers<float>(weight), {SafetensorsDType::kU16, 256}));
}

TEST(TokenFile, UnusualTokensAreTokens) {
  const auto isTaken = [](const std::string &content, uint64_t vocabulary) {
    const auto stream = read(content, {std::nullopt, vocabulary});
    return stream.ok() ? "" : stream.status().message();
  };
  const uint32_t some[] = {0, 1, 255, 256, 12160, 16256, 16384, 20479, 32767, 40960, 49024, 65535};
  for (const uint32_t a : some) {
    EXPECT_EQ(isTaken(numbers<uint16_t>([&](uint32_t) { return a; }), 65536), "") << a;
    for (const uint32_t b : some)
      EXPECT_EQ(isTaken(numbers<uint16_t>([&](uint32_t i) { return i % 2 ? a : b; }), 65536), "") << a << b;
  }
  // Codes of pictures or sounds: ids of a range alone, and of two ranges in turn.
  for (const uint32_t begin : {8192, 16384, 40960, 49152})
    for (const uint32_t size : {256, 1024, 4096}) {
      const auto code = [&](uint32_t i) { return begin + i * i * 40503 % size; };
      EXPECT_EQ(isTaken(numbers<uint16_t>(code), 65536), "") << begin << " " << size;
      EXPECT_EQ(isTaken(numbers<uint16_t>([&](uint32_t i) { return i % 2 ? code(i) : i * 7 % size; }), 65536),
                "")
          << begin << " " << size;
      EXPECT_EQ(isTaken(numbers<uint16_t>([&](uint32_t i) { return i % 2 ? code(i) : spread(i); }), 65536),
                "")
          << begin << " " << size;
    }
  for (const uint32_t separator : {1, 13, 15})
    for (const uint64_t vocabulary : {50257, 65536})
      EXPECT_EQ(isTaken(numbers<uint16_t>(
                            [&](uint32_t i) { return i % 2 ? separator : 17 + i * i * 40503 % 50000; }),
                        vocabulary),
                "")
          << separator << " after each word of " << vocabulary;
  const auto alternating = [](uint32_t i) { return i % 2 ? i / 2 % 2 : 17 + i * i * 40503 % 50000; };
  EXPECT_EQ(isTaken(numbers<uint16_t>(alternating), 50257), "") << "as uint32, beyond the vocabulary";
  const auto raised = [](uint32_t i) { return 6000 + i * i * 40503 % 15000 + (i % 5 ? 0 : 32768); };
  EXPECT_EQ(isTaken(numbers<uint16_t>(raised), 65536), "");
  EXPECT_EQ(isTaken(numbers<uint16_t>(frequentFirst, 30000), 50257), "");
  for (const uint32_t padding : {1, 32000, 32003}) {
    const auto padded = [&](uint32_t i) { return i % 7 ? padding : frequentFirst(i); };
    EXPECT_EQ(isTaken(numbers<uint16_t>(padded, 30000), 65536), "") << padding;
    const auto separated = [&](uint32_t i) { return i % 2 ? padding : 17 + i * i * 40503 % 50000; };
    EXPECT_EQ(isTaken(numbers<uint16_t>(separated, 30000), 65536), "") << padding;
  }
  const auto byte = [](uint32_t i) { return frequentFirst(i) % 256; };
  EXPECT_EQ(isTaken(numbers<uint16_t>(byte, 30000), 256), "");
  EXPECT_EQ(isTaken(numbers<uint16_t>(byte, 30000), 50257), "");
  // Nothing but 0 and a few ids, at even offsets by chance.
  EXPECT_EQ(isTaken(numbers<uint16_t>([](uint32_t i) { return i == 40 ? 2 : i == 900 ? 3 : 0; }), 65536), "");
  for (uint32_t vocabulary : {2U, 96U, 256U, 50257U, 65536U})
    for (uint32_t file = 0; file < 300; ++file) {
      const auto random = [&](uint32_t i) {
        return philox4x32({i, file, 0, 0}, {vocabulary, 0})[0] % vocabulary;
      };
      ASSERT_EQ(isTaken(numbers<uint16_t>(random, 150 + file), 65536), "") << file << " of " << vocabulary;
    }
}

TEST(TokenFile, DoubtsZeros) {
  EXPECT_EQ(
      read(std::string(8192, '\0'))->warning,
      "nowhere/f: its first 8192 bytes are all 0, the same token again and again; was the file copied or "
      "written to its end?");
  EXPECT_EQ(read(std::string(8191, '\0') + '\1')->warning, "");
  EXPECT_EQ(read(std::string(8, '\0'))->warning, "");
}

TEST(TokenFile, DoubtsCharacters) {
  const auto warning = [](const std::string &content, TokenFileOptions options) {
    return read(content, options)->warning;
  };
  const std::string text = numbers<uint16_t>([](uint32_t i) { return i % 60 ? 'A' + i * 7 % 50 : '\n'; });
  EXPECT_EQ(
      warning(text, {std::nullopt, 50257}),
      "nowhere/f: nearly all its tokens are codes of ASCII, as of a text in UTF-16; if it is one, convert "
      "it to UTF-8 and tokenize it with trainc tokenize, else give --data-dtype=uint16");
  EXPECT_EQ(warning(text, {SafetensorsDType::kU16, 50257}), "");
  EXPECT_EQ(warning(text, {std::nullopt, 256}), "") << "a vocabulary of bytes";
  EXPECT_EQ(warning(numbers<uint16_t>(frequentFirst), {std::nullopt, 50257}), "");
}

TEST(TokenFile, TheWidthOfASidecarIsNotDoubted) {
  const Folder folder;
  const std::string content = numbers<uint16_t>([](uint32_t i) { return i % 2 ? 0 : 1 + spread(i); });
  const std::string path = folder.write("t.bin", content);
  EXPECT_FALSE(readTokenStream(path, asBytes(content), content.size(), {std::nullopt, 65536}).ok());
  ASSERT_OK(writeTokenSidecar(path, {{"t.json", 1}, 65536, SafetensorsDType::kU16, content.size() / 2}));
  const auto stream = readTokenStream(path, asBytes(content), content.size(), {std::nullopt, 65536});
  ASSERT_OK(stream);
  EXPECT_EQ(stream->dtype, SafetensorsDType::kU16);
}

/// Megatron's index of one document with sequences of these lengths, whose tokens have `width` bytes.
std::string megatronIndex(char code, size_t width, const std::vector<int32_t> &lengths) {
  std::vector<int64_t> positions;
  int64_t end = 0;
  for (const int32_t length : lengths) {
    positions.push_back(end);
    end += length * int64_t(width);
  }
  const auto sequences = int64_t(lengths.size());
  return std::string("MMIDIDX\0\0\1\0\0\0\0\0\0\0", 17) + code + bytesOf<int64_t>({sequences, 2}) +
         bytesOf(lengths) + bytesOf(positions) + bytesOf<int64_t>({0, sequences});
}

TEST(TokenFile, MegatronsIndexSaysTheWidth) {
  const Folder folder;
  const std::string content = idsBelow<uint32_t>(50257);
  const auto tokens = int32_t(content.size() / 4);
  const std::string path = folder.write("t.bin", content);
  const auto readBeside = [&](const std::string &index, TokenFileOptions options = {std::nullopt, 50257}) {
    folder.write("t.idx", index);
    return readTokenStream(path, asBytes(content), content.size(), options);
  };
  const std::string index = megatronIndex(4, 4, {3, tokens - 3});
  for (const std::string &good : {index, index + std::string(2, '\0')}) { // the latter has modes
    const auto stream = readBeside(good);
    ASSERT_OK(stream);
    EXPECT_EQ(stream->dtype, SafetensorsDType::kU32);
  }
  EXPECT_INVALID(readBeside(index, {SafetensorsDType::kU16, 50257}),
                 path + ": " + (folder / "t.idx") +
                     " says uint32, --data-dtype says uint16; leave --data-dtype out");
  EXPECT_THAT(readBeside(megatronIndex(5, 8, {tokens / 2})).status().message(),
              testing::HasSubstr("found the type 5"));
}

TEST(TokenFile, AMegatronIndexOfSomethingElseIsRefused) {
  const Folder folder;
  const std::string content = idsBelow<uint32_t>(50257);
  const auto tokens = int32_t(content.size() / 4);
  const std::string path = folder.write("t.bin", content);
  const std::string index = megatronIndex(4, 4, {3, tokens - 3});
  std::string version = index, counts = index;
  version[9] = 2;
  counts[25] = 1;
  const std::string bytes = std::to_string(index.size()), end = std::to_string(content.size());
  for (const auto &[wrong, problem] : std::vector<std::pair<std::string, std::string>>{
           {"", "expected an index of Megatron, which begins with MMIDIDX, found an empty file"},
           {"garbage", "expected an index of Megatron, which begins with MMIDIDX, found 'garbage'"},
           {std::string(100, 'a') + "\n",
            "expected an index of Megatron, which begins with MMIDIDX, found text"},
           {index.substr(0, 20), "expected an index of Megatron of at least 34 bytes, found 20"},
           {version, "byte 9: expected version 1 of Megatron's index, found 2"},
           {index.substr(0, index.size() - 1), "expected the bytes of 2 sequences and 2 documents (" + bytes +
                                                   "), found " + std::to_string(index.size() - 1) + " bytes"},
           {counts,
            "expected the bytes of 72057594037927938 sequences and 2 documents, found " + bytes + " bytes"},
           {megatronIndex(8, 2, {3, tokens - 3}), "expected the index of " + end +
                                                      " bytes of tokens, found that of " +
                                                      std::to_string(content.size() / 2)},
           {megatronIndex(4, 4, {}), "expected the index of " + end + " bytes of tokens, found that of 0"}}) {
    const std::string file = folder.write("t.idx", wrong);
    EXPECT_INVALID(readTokenStream(path, asBytes(content), content.size(), {std::nullopt, 50257}),
                   file + ": " + problem +
                       "; copy both files again, or give --data-dtype if this file does not belong to " +
                       path);
    // The user knows better.
    ASSERT_OK(readTokenStream(path, asBytes(content), content.size(), {SafetensorsDType::kU32, 50257}));
  }
}

TEST(TokenFile, RefusesDamage) {
  EXPECT_INVALID(
      read("abc"),
      "nowhere/f: byte 2: a file of 3 bytes is not a whole number of uint16 tokens (2 bytes each); "
      "it may be truncated: copy or tokenize it again, or give --data-dtype=uint8 if each byte is a token");
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
        "tokenizer_xxh3 (hexadecimal string); '{}' is missing or of another type; delete the file or write "
        "it again "
        "with `trainc tokenize`",
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
  EXPECT_INVALID(
      read(R"({"tokenizer":"bytes","vocabulary":65537,"dtype":"uint16","tokens":1,"tokenizer_xxh3":"0"})"),
      path +
          ": uint16 cannot hold a vocabulary of 65537; delete the JSON file or write it again with `trainc "
          "tokenize`");
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

TEST(FilePatterns, LeaveOutSidecarsOfTheirMatches) {
  const Folder folder;
  for (const char *name : {"a.bin", "a.bin.json", "a.bin.json.json", "b.json"})
    folder.write(name, "x");
  const auto all = expandPatterns({folder / "*"});
  ASSERT_OK(all);
  EXPECT_THAT(*all, testing::ElementsAre(folder / "a.bin", folder / "b.json"));
  const auto alone = expandPatterns({folder / "a.bin.j*n", folder / "a.bin.json"});
  ASSERT_OK(alone);
  EXPECT_THAT(*alone, testing::ElementsAre(folder / "a.bin.json", folder / "a.bin.json"));
}

} // namespace
} // namespace trainc
