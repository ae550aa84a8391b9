// Unigram, WordPiece and the map of characters: damaged files, and rules that decide between tokens.
#include "runtime/data/tokenizer/character_map.h"
#include "runtime/data/tokenizer/piece_trie.h"
#include "runtime/data/tokenizer/tokenizer.h"
#include "runtime/data/tokenizer/unigram_model.h"
#include "test/unit/runtime/data/support.h"
#include "test/unit/runtime/data/tokenizer_goldens.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace trainc {
namespace {

using namespace test;
using Json = nlohmann::json;
using testing::ElementsAre;

/// Pieces and their scores; a list of pairs would be an object of JSON.
using Pieces = std::vector<std::pair<std::string, double>>;

class TokenModels : public testing::Test {
protected:
  Result<std::unique_ptr<Tokenizer>> open(const Json &json) {
    folder_.write("tokenizer.json", json.dump());
    return openTokenizer(path_);
  }
  Result<std::unique_ptr<Tokenizer>> openUnigram(const Json &vocabulary, bool byteFallback = false) {
    return open(
        {{"model",
          {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}, {"byte_fallback", byteFallback}}}});
  }
  /// Opens BERT's structure after a change of the model.
  Result<std::unique_ptr<Tokenizer>> openWordPiece(const std::string &pointer, const Json &value) {
    Json json = {
        {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
        {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
        {"model",
         {{"type", "WordPiece"},
          {"unk_token", "[UNK]"},
          {"continuing_subword_prefix", "##"},
          {"max_input_chars_per_word", 5},
          {"vocab", {{"[UNK]", 0}, {"a", 1}, {"##b", 2}, {"##a", 3}, {"ab", 4}, {".", 5}, {"\u00e9", 6}}}}}};
    json[Json::json_pointer("/model" + pointer)] = value;
    return open(json);
  }

  const Folder folder_;
  const std::string path_ = folder_ / "tokenizer.json";
};

TEST_F(TokenModels, WordPieceTakesTheLongestTokens) {
  const auto tokenizer = openWordPiece("/max_input_chars_per_word", 5);
  ASSERT_OK(tokenizer);
  EXPECT_THAT(idsOf(**tokenizer, "aba ab. a\u00e9 \u00e9ba"), ElementsAre(4, 3, 4, 5, 0, 6, 2, 3));
  EXPECT_THAT(idsOf(**tokenizer, "ababa ababab \u00e9bbbb"), ElementsAre(4, 3, 2, 3, 0, 6, 2, 2, 2, 2))
      << "the length counts characters";
  EXPECT_THAT(idsOf(**tokenizer, "a\xff\xfe"), ElementsAre(1, 0));
  EXPECT_EQ((*tokenizer)->decode(std::vector<uint32_t>{4, 3, 1, 5}), "aba a.");
}

TEST_F(TokenModels, WordPieceFilesAreVerified) {
  EXPECT_INVALID(openWordPiece("/unk_token", "<unk>"),
                 path_ + ": model.unk_token: '<unk>' is not in the vocabulary");
  EXPECT_INVALID(openWordPiece("/unk_token", nullptr),
                 path_ + ": model.unk_token: null is not supported; expected a string");
  EXPECT_INVALID(openWordPiece("/max_input_chars_per_word", -1),
                 path_ + ": model.max_input_chars_per_word: -1 is not supported; expected a number of "
                         "characters, such as 100");
  EXPECT_INVALID(openWordPiece("/vocab/ab", 1),
                 path_ + ": vocabulary: token 'ab' has id 1, which another token has already");
  EXPECT_INVALID(openWordPiece("/vocab/" + std::string(5000, 'x'), 7),
                 path_ + ": vocabulary: the token with id 7 has 5000 bytes; expected at most 4096");
  Json bytes = {{"pre_tokenizer", {{"type", "ByteLevel"}}}, {"model", {{"type", "WordPiece"}}}};
  bytes["model"].update(
      {{"unk_token", "a"}, {"continuing_subword_prefix", ""}, {"max_input_chars_per_word", 1}});
  EXPECT_INVALID(open(bytes), path_ +
                                  ": model: WordPiece needs words of characters, the pre_tokenizer "
                                  "ByteLevel makes bytes; expected another one, such as BertPreTokenizer");
}

TEST_F(TokenModels, UnigramTakesTheGreatestSum) {
  const auto tokenizer = openUnigram(Pieces{
      {"<unk>", 0.0}, {"a", -1}, {"b", -1}, {"ab", -2}, {"xy", -50}, {"c", -3}, {"abc", -5}, {"", -1}});
  ASSERT_OK(tokenizer);
  EXPECT_THAT(idsOf(**tokenizer, "ab"), ElementsAre(3)) << "the longest last token of equal sums";
  EXPECT_THAT(idsOf(**tokenizer, "abcba"), ElementsAre(6, 2, 1));
  EXPECT_THAT(idsOf(**tokenizer, "axyzb"), ElementsAre(1, 4, 0, 2))
      << "xy is better than two unknown characters";
  EXPECT_THAT(idsOf(**tokenizer, "zz<unk>q"), ElementsAre(0)) << "unknown characters are one token";
  EXPECT_THAT(idsOf(**tokenizer, "a\xff\xfe"), ElementsAre(1, 0));
}

TEST_F(TokenModels, UnigramFallsBackToBytes) {
  Pieces vocabulary = {{"<unk>", 0.0}, {"a", -1.0}};
  for (int byte = 0; byte < 256; ++byte)
    if (byte != 'z')
      vocabulary.emplace_back(fmt::format("<0x{:02X}>", byte), 0.0);
  const auto tokenizer = openUnigram(vocabulary, /*byteFallback=*/true);
  ASSERT_OK(tokenizer);
  EXPECT_THAT(idsOf(**tokenizer, "ab\u00e9"), ElementsAre(1, 100, 196, 170));
  EXPECT_THAT(idsOf(**tokenizer, "abz"), ElementsAre(1, 0)) << "all unknown characters, or none";
  EXPECT_THAT(idsOf(**tokenizer, "a\xff"), ElementsAre(1, 256));
}

/// The scores of a model by sentencepiece; the ids are those of Hugging Face's tokenizers 0.23.3, which reads
/// the last bit of -14.646308898925781 differently.
TEST_F(TokenModels, UnigramScoresAreReadAsHuggingFaceReadsThem) {
  const auto tokenizer = openUnigram(Pieces{{"<unk>", 0.0},
                                            {"9", -6.434139728546143},
                                            {"99999999999999", -14.646308898925781},
                                            {"\u2581", -4.915346145629883},
                                            {"\u258199", -12.342504501342773}});
  ASSERT_OK(tokenizer);
  EXPECT_THAT(idsOf(**tokenizer, "\u2581" + std::string(101, '9')), ElementsAre(4, 2, 2, 1, 2, 2, 2, 2, 2));
}

TEST_F(TokenModels, UnigramFilesAreVerified) {
  EXPECT_INVALID(openUnigram(3), path_ + ": model.vocab: expected an array of pieces, found number");
  EXPECT_INVALID(openUnigram(Json::parse(R"([["a", 1, 2]])")),
                 path_ + ": model.vocab[0]: expected [piece, score], found [\"a\",1,2]");
  EXPECT_INVALID(openUnigram(Json::parse(R"([["a", null]])")),
                 path_ + ": model.vocab[0]: expected [piece, score], found [\"a\",null]");
  EXPECT_INVALID(openUnigram(Json::array()), path_ + ": model.unk_id: no piece has the id 0; there are 0");
  EXPECT_INVALID(openUnigram(Pieces{{"<unk>", 0}, {"a", -1}, {"a", -2}}),
                 path_ + ": model.vocab[2]: the piece 'a' is model.vocab[1], too; each may occur once");
  EXPECT_INVALID(openUnigram(Pieces{{"<unk>", 0}, {std::string(5000, 'x'), -1}}),
                 path_ + ": model.vocab[1]: the piece has 5000 bytes; expected at most 4096");
  EXPECT_INVALID(open({{"model", {{"type", "Unigram"}, {"unk_id", nullptr}, {"vocab", Pieces{{"a", 0}}}}}}),
                 path_ + ": model.unk_id: null is not supported; expected the index of the token for unknown "
                         "characters");
  EXPECT_INVALID(open({{"pre_tokenizer", {{"type", "ByteLevel"}}},
                       {"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", Pieces{{"a", 0}}}}}}),
                 path_ +
                     ": model: Unigram needs words of characters, the pre_tokenizer ByteLevel makes bytes; "
                     "expected another one, such as Metaspace");
  for (const double score : std::vector<double>{std::nan(""), -INFINITY})
    EXPECT_INVALID(
        UnigramModel::create({"m", {{"<unk>", 0}, {"a", score}}, 0, false}),
        fmt::format("m: model.vocab[1]: the score of the piece 'a' is {}; expected a finite number", score));
}

/// Sums of finite scores may be infinite.
TEST_F(TokenModels, HugeScoresEndNothing) {
  const auto tokenizer = openUnigram(Pieces{{"<unk>", 0.0}, {"a", -1e308}, {"b", 1e308}, {"ab", 5e-324}});
  ASSERT_OK(tokenizer);
  EXPECT_EQ(idsOf(**tokenizer, std::string(100, 'a') + std::string(100, 'b')).size(), 199U);
}

/// The time does not grow with the square of a word's length.
TEST_F(TokenModels, LongWords) {
  const auto unigram = openUnigram(Pieces{{"<unk>", 0.0}, {std::string(400, 'a'), -1}, {"b", -1}});
  ASSERT_OK(unigram);
  EXPECT_EQ(idsOf(**unigram, std::string(10000, 'b')).size(), 10000U);
  EXPECT_EQ(idsOf(**unigram, std::string(100000, 'a')).size(), 250U);
  const auto wordPiece = openWordPiece("/max_input_chars_per_word", 1 << 30);
  ASSERT_OK(wordPiece);
  EXPECT_EQ(idsOf(**wordPiece, "ab" + std::string(1 << 20, 'b')).size(), 1U + (1 << 20));
}

TEST(PieceTrie, FindsAllPrefixes) {
  const PieceTrie trie({{"a", 1}, {"abc", 2}, {"b", 3}, {"", 4}, {"\xff\x80", 5}});
  std::vector<std::pair<size_t, uint32_t>> found;
  const auto search = [&](std::string_view text) {
    found.clear();
    trie.forEachPrefix(text, [&](size_t bytes, uint32_t id) { found.emplace_back(bytes, id); });
    return found;
  };
  EXPECT_THAT(search("abcd"), ElementsAre(std::pair(1, 1), std::pair(3, 2)));
  EXPECT_THAT(search("\xff\x80"), ElementsAre(std::pair(2, 5)));
  EXPECT_THAT(search("c"), testing::IsEmpty());
  EXPECT_THAT(search(""), testing::IsEmpty());
  PieceTrie().forEachPrefix("a", [](size_t, uint32_t) { FAIL(); });
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j)
      text += i + j <= bytes.size() ? kDigits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

/// A map of 'a' to "xy": its unit 256 ^ 'a' has the label 'a' and a leaf, unit 512.
struct Map {
  std::vector<uint32_t> units = std::vector<uint32_t>(1024);
  std::string replacements = std::string("xy\0", 3);

  Map() {
    units[0] = 256 << 10;
    units[256 ^ 'a'] = 'a' | 1 << 8 | (256 ^ 'a' ^ 512) << 10;
    units[512] = 1U << 31;
  }
  std::string encoded() const {
    return base64(bytesOf(std::vector<uint32_t>{static_cast<uint32_t>(4 * units.size())}) + bytesOf(units) +
                  replacements);
  }
  Result<CharacterMap> read() const { return CharacterMap::read("t.json: normalizer", encoded()); }
};

TEST(CharacterMap, ReplacesCharacters) {
  const auto map = Map().read();
  ASSERT_OK(map);
  EXPECT_EQ(map->apply("", 100), "");
  EXPECT_EQ(map->apply("bab a", 100), "bxyb xy");
  EXPECT_EQ(map->apply("a\u0301!", 100), "xy!") << "with its mark";
  EXPECT_EQ(map->apply("a\u0301\u0301\u0301!", 100), "xy\u0301\u0301\u0301!")
      << "a cluster of more than 5 bytes";
  EXPECT_EQ(map->apply(std::string("\0a", 2), 100), std::string("\0xy", 3));
  EXPECT_FALSE(map->keeps('a'));
  EXPECT_TRUE(map->keeps(' '));
  EXPECT_LT(map->apply(std::string(1000, 'a'), 10).size(), 20U);
}

TEST(CharacterMap, DamageIsAnError) {
  const std::string where = "t.json: normalizer: precompiled_charsmap: ";
  for (const char *text : {"abc", "ab=c", "a===", "ab\u00e9", "////AB=="})
    EXPECT_INVALID(CharacterMap::read("t.json: normalizer", text), where + "not base64");
  for (const auto &[text, size, bytes] : std::vector<std::tuple<const char *, int, int>>{
           {"", 0, 0}, {"AAAAAA==", 0, 4}, {"AgAAAAAAAAA=", 2, 8}, {"CAAAAAAAAAA=", 8, 8}})
    EXPECT_INVALID(
        CharacterMap::read("t.json: normalizer", text),
        where + fmt::format("expected the size of a trie, and as many bytes; found the size {} in {} bytes",
                            size, bytes));
  Map map;
  map.units[0] = 4096 << 10;
  EXPECT_INVALID(map.read(), where + "unit 0 of the trie leads to unit 4096; there are 1024");
  map = Map();
  map.units[512] = 1U << 31 | 3;
  EXPECT_INVALID(map.read(),
                 where + "unit 353 of the trie leads to byte 3 of the replacements, which have 3 bytes");
  map = Map();
  map.replacements = "\u00e9";
  map.units[512] = 1U << 31 | 1;
  EXPECT_INVALID(map.read(),
                 where + "unit 353 of the trie leads to byte 1 of the replacements, which is within a "
                         "character");
  map = Map();
  map.replacements = "\xff";
  EXPECT_INVALID(map.read(), where + "the replacements are not UTF-8");
}

/// Units that lead back to the root: each byte of a text is read once all the same.
TEST(CharacterMap, CyclesEnd) {
  Map map;
  map.units[256 ^ 'b'] = 'b' | ('b' << 10);
  const auto read = map.read();
  ASSERT_OK(read);
  EXPECT_EQ(read->apply("bbbbb", 100), "bbbbb");
  EXPECT_EQ(read->apply("b\u0301" + std::string(100000, 'b') + "a", 1 << 20).size(), 100005U);
}

} // namespace
} // namespace trainc
