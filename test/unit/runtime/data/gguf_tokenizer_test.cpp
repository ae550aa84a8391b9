#include "runtime/data/tokenizer/gguf_tokenizer.h"

#include "runtime/data/tokenizer/gguf_tokenizer_writer.h"
#include "runtime/data/tokenizer/tokenizer.h"
#include "test/unit/runtime/data/tokenizer_goldens.h"
#include "test/unit/runtime/formats/gguf_builder.h"

#include <nlohmann/json.hpp>

namespace trainc {
namespace {

using namespace test;
using Json = nlohmann::json;

/// A GGUF of the golden byte-level model, whose steps `pre` names.
std::string byteLevelModel(const std::string &pre) {
  const Json file = Json::parse(readFile(kTokenizerGoldens + "/tokenizer.json"));
  std::vector<std::string> tokens(file["model"]["vocab"].size()), merges;
  for (const auto &[token, id] : file["model"]["vocab"].items())
    tokens[id.get<size_t>()] = token;
  for (const Json &merge : file["model"]["merges"])
    merges.push_back(merge.is_string() ? merge.get<std::string>()
                                       : merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  std::vector<int32_t> types(tokens.size(), 1);
  for (const Json &added : file["added_tokens"])
    if (const size_t id = added["id"]; id < types.size())
      types[id] = 3;
  return GgufBuilder()
      .text("tokenizer.ggml.model", "gpt2")
      .text("tokenizer.ggml.pre", pre)
      .strings("tokenizer.ggml.tokens", tokens)
      .array("tokenizer.ggml.token_type", GgufValueType::kInt32, types)
      .strings("tokenizer.ggml.merges", merges)
      .number("tokenizer.ggml.add_bos_token", GgufValueType::kBool, uint8_t{0})
      .build();
}

/// Whether the text has an added token of the golden model that the GGUF cannot have, such as one that strips
/// spaces.
bool hasOtherAdded(const std::string &text) {
  for (const char *added : {"<|im_start|>", "<|end", "<mask>", "[PAD]", "Nebuchadnezzar", "§"})
    if (text.find(added) != std::string::npos)
      return true;
  return false;
}

TEST(GgufTokenizer, StepsAreThoseOfHuggingFace) {
  const Json goldens = Json::parse(readFile(kTokenizerGoldens + "/goldens.json"));
  const Folder folder;
  for (const auto &[pre, variant] : {std::pair("gpt-2", "gpt2"),
                                     {"llama-bpe", "llama3"},
                                     {"qwen2", "qwen2"},
                                     {"smollm", "starcoder"},
                                     {"falcon", "falcon"},
                                     {"bloom", "bloom"}}) {
    const auto tokenizer = openTokenizer(folder.write("t.gguf", byteLevelModel(pre)));
    ASSERT_OK(tokenizer);
    const auto golden =
        std::ranges::find(goldens["variants"], variant, [](const Json &each) { return each["name"]; });
    size_t compared = 0;
    for (size_t i = 0; i < (*golden)["ids"].size(); ++i) {
      const std::string text = goldens["texts"][i];
      if (hasOtherAdded(text))
        continue;
      const auto ids = (*tokenizer)->encode(text);
      ASSERT_OK(ids);
      EXPECT_EQ(Json(*ids), (*golden)["ids"][i]) << pre << ": text " << i;
      ++compared;
    }
    EXPECT_GT(compared, 20U) << pre;
  }
}

TEST(GgufTokenizer, ScoresGiveTheMergesOfSentencePiece) {
  const std::string folder = TRAINC_GGUF_GOLDENS;
  const Json goldens = Json::parse(readFile(folder + "/sentencepiece.json"));
  const auto tokenizer = openTokenizer(folder + "/sentencepiece.gguf");
  ASSERT_OK(tokenizer);
  for (size_t i = 0; i < goldens["texts"].size(); ++i) {
    const std::string text = goldens["texts"][i];
    const auto ids = (*tokenizer)->encode(text);
    ASSERT_OK(ids);
    EXPECT_EQ(Json(*ids), goldens["ids"][i]) << text;
    EXPECT_EQ((*tokenizer)->decode(*ids), text);
  }
  EXPECT_EQ((*tokenizer)->findToken("<turn>"), 3U);
  EXPECT_THAT((*tokenizer)->aroundText().before, testing::ElementsAre(1));
}

/// The tokenizer.json of a GGUF file's bytes.
Result<std::string> tokenizerJsonOfBytes(const std::string &bytes) {
  TRAINC_ASSIGN_OR_RETURN(const GgufFile file, parseGguf(bytes));
  return tokenizerJsonOf(file);
}

/// Metadata of the tokenizer in the folder.
Result<std::string> writtenTokenizer(const Folder &folder, uint64_t vocabulary) {
  GgufHeader header;
  TRAINC_RETURN_IF_ERROR(addTokenizer(folder.path(), vocabulary, header));
  TRAINC_ASSIGN_OR_RETURN(GgufLayout layout, header.layOut({}));
  return std::move(layout.header);
}

TEST(GgufTokenizerWriter, TokenizersAreReadAgain) {
  const std::string sentencePiece = readFile(std::string(TRAINC_GGUF_GOLDENS) + "/sentencepiece.gguf");
  for (const auto &[name, bytes] : {std::pair(std::string("sentencepiece"), sentencePiece),
                                    {"gpt-2", byteLevelModel("gpt-2")},
                                    {"smollm", byteLevelModel("smollm")},
                                    {"falcon", byteLevelModel("falcon")},
                                    {"bloom", byteLevelModel("bloom")},
                                    {"llama-bpe", byteLevelModel("llama-bpe")},
                                    {"falcon3", byteLevelModel("falcon3")},
                                    {"dbrx", byteLevelModel("dbrx")},
                                    {"qwen2", byteLevelModel("qwen2")},
                                    {"stablelm2", byteLevelModel("stablelm2")}}) {
    const auto first = tokenizerJsonOfBytes(bytes);
    ASSERT_OK(first);
    const Folder folder;
    folder.write("tokenizer.json", *first);
    const uint64_t tokens = Json::parse(*first)["model"]["vocab"].size();
    const auto written = writtenTokenizer(folder, tokens);
    ASSERT_OK(written);
    const auto second = tokenizerJsonOfBytes(*written);
    ASSERT_OK(second);
    EXPECT_EQ(Json::parse(*second), Json::parse(*first)) << name;
  }
}

TEST(GgufTokenizerWriter, SpecialTokensAndTheChatTemplate) {
  const Folder folder;
  const auto json = tokenizerJsonOfBytes(byteLevelModel("qwen2"));
  ASSERT_OK(json);
  folder.write("tokenizer.json", *json);
  folder.write("tokenizer_config.json",
               R"({"bos_token": null, "eos_token": {"content": "a"}, "pad_token": "b",
                   "chat_template": "{{ messages }}"})");
  folder.write("generation_config.json", R"({"eos_token_id": [7, 5]})");
  const uint64_t tokens = Json::parse(*json)["model"]["vocab"].size();
  const auto written = writtenTokenizer(folder, tokens + 2);
  ASSERT_OK(written);
  const auto file = parseGguf(*written);
  ASSERT_OK(file);
  const Json vocabulary = Json::parse(*json)["model"]["vocab"];
  EXPECT_EQ(**file->count("tokenizer.ggml.eos_token_id"), vocabulary["a"].get<uint64_t>());
  EXPECT_EQ(**file->count("tokenizer.ggml.padding_token_id"), vocabulary["b"].get<uint64_t>());
  EXPECT_EQ(**file->count("tokenizer.ggml.eot_token_id"), 7U);
  EXPECT_FALSE(file->find("tokenizer.ggml.bos_token_id"));
  EXPECT_EQ(*file->text("tokenizer.chat_template"), "{{ messages }}");
  const auto texts = file->array("tokenizer.ggml.tokens", GgufValueType::kString);
  ASSERT_OK(texts);
  EXPECT_EQ((*texts)->count, tokens + 2);
  EXPECT_EQ((*texts)->strings.back(), fmt::format("[PAD{}]", tokens + 1));
  const auto kinds = file->array("tokenizer.ggml.token_type", GgufValueType::kInt32);
  EXPECT_EQ((*kinds)->number(tokens + 1), 5);
}

TEST(GgufTokenizerWriter, NamesWhatIsNotKnown) {
  const Folder folder;
  const auto json = tokenizerJsonOfBytes(byteLevelModel("qwen2"));
  ASSERT_OK(json);
  folder.write("tokenizer.json", *json);
  const auto rejects = [&](uint64_t vocabulary, const char *text) {
    EXPECT_THAT(writtenTokenizer(folder, vocabulary).status().message(), testing::HasSubstr(text));
  };
  rejects(9, "expected one below 9, the rows of the model's embedding");
  Json other = Json::parse(*json);
  other["pre_tokenizer"] = {{"type", "Whitespace"}};
  folder.write("tokenizer.json", other.dump());
  rejects(100000, "llama.cpp has no name for the steps of this tokenizer");
  other["model"]["type"] = "Unigram";
  folder.write("tokenizer.json", other.dump());
  rejects(100000, "expected a model BPE, found \"Unigram\"");
  const auto pieces =
      tokenizerJsonOfBytes(readFile(std::string(TRAINC_GGUF_GOLDENS) + "/sentencepiece.gguf"));
  ASSERT_OK(pieces);
  Json fewer = Json::parse(*pieces);
  fewer["model"]["merges"].erase(3);
  folder.write("tokenizer.json", fewer.dump());
  rejects(1000, "expected merges in the order of SentencePiece's scores");
}

TEST(GgufTokenizer, NamesWhatIsNotKnown) {
  const auto textOf = [](const std::string &content) {
    const auto file = parseGguf(content);
    EXPECT_TRUE(file.ok());
    return tokenizerJsonOf(*file);
  };
  constexpr const char *kModel = "tokenizer.ggml.model", *kPre = "tokenizer.ggml.pre",
                       *kTokens = "tokenizer.ggml.tokens";
  EXPECT_INVALID(textOf(GgufBuilder().build()),
                 "f: expected a tokenizer in the metadata ('tokenizer.ggml.model'), found "
                 "none; name the model's tokenizer.json instead");
  EXPECT_INVALID(textOf(GgufBuilder().text(kModel, "rwkv").build()),
                 "f: 'tokenizer.ggml.model': expected gpt2 (byte-level BPE) or llama (SentencePiece's BPE), "
                 "found 'rwkv'; "
                 "name the model's tokenizer.json instead");
  EXPECT_INVALID(
      textOf(GgufBuilder().text(kModel, "gpt2").build()),
      "f: expected tokens in 'tokenizer.ggml.tokens', found none; name the model's tokenizer.json instead");
  EXPECT_INVALID(textOf(GgufBuilder().text(kModel, "gpt2").strings(kTokens, {"a"}).build()),
                 "f: expected a string 'tokenizer.ggml.pre' in the metadata, found none");
  EXPECT_THAT(textOf(GgufBuilder().text(kModel, "gpt2").strings(kTokens, {"a"}).text(kPre, "tekken").build())
                  .status()
                  .message(),
              testing::HasSubstr("found 'tekken'; name the model's tokenizer.json instead"));
  EXPECT_INVALID(
      textOf(
          GgufBuilder().text(kModel, "gpt2").strings(kTokens, {"a", "b", "a"}).text(kPre, "gpt-2").build()),
      "f: 'tokenizer.ggml.tokens': expected each token once, found 'a' as 0 and 2");
  EXPECT_INVALID(
      textOf(GgufBuilder().text(kModel, "gpt2").strings(kTokens, {"\xff"}).text(kPre, "gpt-2").build()),
      "f: 'tokenizer.ggml.tokens': expected UTF-8, found '\\xff' as token 0");
  EXPECT_INVALID(
      textOf(GgufBuilder().text(kModel, "gpt2").strings(kTokens, {"a"}).text(kPre, "gpt-2").build()),
      "f: expected merges in 'tokenizer.ggml.merges', found none; name the model's tokenizer.json instead");
  EXPECT_INVALID(textOf(GgufBuilder()
                            .text(kModel, "llama")
                            .strings(kTokens, {"a", "b"})
                            .array<float>("tokenizer.ggml.scores", GgufValueType::kFloat32, {1})
                            .build()),
                 "f: 'tokenizer.ggml.scores': expected an element for each of 2 tokens, found 1");
  EXPECT_INVALID(textOf(GgufBuilder()
                            .text(kModel, "llama")
                            .strings(kTokens, {"a"})
                            .array<float>("tokenizer.ggml.scores", GgufValueType::kFloat32, {1})
                            .u32("tokenizer.ggml.bos_token_id", 1)
                            .build()),
                 "f: 'tokenizer.ggml.bos_token_id': expected the id of one of 1 tokens, found 1");
}

} // namespace
} // namespace trainc
