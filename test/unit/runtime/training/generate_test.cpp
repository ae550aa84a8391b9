#include "runtime/training/generate.h"

#include "test/unit/runtime/training/toy_fixture.h"

#include <cmath>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <limits>
#include <sstream>

namespace trainc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

TEST(Sampler, ZeroTemperatureTakesTheFirstBest) {
  Sampler sampler({.temperature = 0, .topK = 0, .seed = 5});
  const float logits[] = {1, 3, 3, -std::numeric_limits<float>::infinity()};
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(*sampler.sample(logits), 1U);
}

TEST(Sampler, FrequenciesFollowTheSoftmax) {
  Sampler sampler({.temperature = 2, .topK = 0, .seed = 7});
  const float logits[] = {0, 2, -2, 4};
  std::array<int, 4> counts{};
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i)
    ++counts[*sampler.sample(logits)];
  const double sum = std::exp(0) + std::exp(1) + std::exp(-1) + std::exp(2);
  for (size_t i = 0; i < counts.size(); ++i) {
    const double expected = std::exp(logits[i] / 2.0) / sum;
    // Five standard deviations of a binomial proportion.
    EXPECT_NEAR(counts[i] / static_cast<double>(kDraws), expected, 5 * std::sqrt(expected / kDraws)) << i;
  }
}

TEST(Sampler, DrawsDependOnTheSeedAlone) {
  const std::vector<float> logits(100, 0.0F);
  const auto draw = [&](uint64_t seed) {
    Sampler sampler({.seed = seed});
    std::vector<uint32_t> tokens;
    for (int i = 0; i < 20; ++i)
      tokens.push_back(*sampler.sample(logits));
    return tokens;
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
  EXPECT_NE(draw(1), draw(1ULL << 32 | 1));
}

TEST(Sampler, TopKExcludesTheRest) {
  Sampler sampler({.temperature = 10, .topK = 2, .seed = 3});
  const float logits[] = {1, 0, 2, 1};
  std::set<uint32_t> seen;
  for (int i = 0; i < 200; ++i)
    seen.insert(*sampler.sample(logits));
  EXPECT_THAT(seen, ElementsAre(0, 2)); // of the two equal ones, the lower token
}

/// A case of logits_processors.txt.
struct ProcessorCase {
  SamplerOptions options;
  std::vector<uint32_t> text;
  std::vector<float> logits;
  std::vector<double> probabilities;
};

template <typename T> std::vector<T> readNumbers(std::istream &file) {
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  return {std::istream_iterator<T>(words), {}};
}

std::vector<ProcessorCase> processorCases() {
  std::ifstream file(TRAINC_GOLDEN_DIR "/logits_processors.txt");
  std::vector<ProcessorCase> cases;
  for (std::vector<double> options; options = readNumbers<double>(file), options.size() == 5;) {
    ProcessorCase each;
    each.options = {.temperature = options[0],
                    .topK = static_cast<uint64_t>(options[1]),
                    .topP = options[2],
                    .minP = options[3],
                    .repetitionPenalty = options[4]};
    each.text = readNumbers<uint32_t>(file);
    each.logits = readNumbers<float>(file);
    each.probabilities = readNumbers<double>(file);
    cases.push_back(std::move(each));
  }
  return cases;
}

TEST(Sampler, ProbabilitiesAreThoseOfTransformersProcessors) {
  const std::vector<ProcessorCase> cases = processorCases();
  ASSERT_EQ(cases.size(), 11U);
  size_t leftOut = 0;
  for (size_t number = 0; number < cases.size(); ++number) {
    const ProcessorCase &each = cases[number];
    ASSERT_EQ(each.logits.size(), each.probabilities.size());
    Sampler sampler(each.options);
    sampler.read(each.text);
    const std::span<const TokenCandidate> candidates = sampler.candidates(each.logits);
    double sum = 0;
    for (const TokenCandidate &candidate : candidates)
      sum += candidate.weight;
    std::vector<double> found(each.logits.size());
    for (const TokenCandidate &candidate : candidates)
      found[candidate.token] = candidate.weight / sum;
    for (size_t token = 0; token < found.size(); ++token) {
      EXPECT_EQ(found[token] == 0, each.probabilities[token] == 0)
          << "case " << number << ", token " << token;
      // transformers divides logits by the temperature in f32.
      EXPECT_NEAR(found[token], each.probabilities[token], 1e-6) << "case " << number << ", token " << token;
      leftOut += found[token] == 0 ? 1 : 0;
    }
  }
  EXPECT_GT(leftOut, 100U);
}

TEST(Sampler, GreedyChoicesAreOfPenalisedLogits) {
  Sampler sampler({.temperature = 0, .repetitionPenalty = 2});
  const float logits[] = {3, 4, 1.9F, -1};
  EXPECT_EQ(*sampler.sample(logits), 1U);
  EXPECT_EQ(*sampler.sample(logits), 0U) << "the drawn token has a logit of 2";
  EXPECT_EQ(*sampler.sample(logits), 1U);
  const float negative[] = {-2, -2.5F, -3, -5};
  EXPECT_EQ(*sampler.sample(negative), 2U) << "negative logits are multiplied";
}

TEST(Sampler, RefusesWhatIsNotFinite) {
  Sampler sampler({});
  const float logits[] = {1, std::nanf("")};
  EXPECT_THAT(sampler.sample(logits).status().message(), HasSubstr("the logit of token 1 is nan"));
  const std::vector<float> none(3, -std::numeric_limits<float>::infinity());
  EXPECT_THAT(sampler.sample(none).status().message(), HasSubstr("the logits of all tokens are -inf"));
}

class GenerateTest : public testing::Test {
protected:
  explicit GenerateTest(const PlanBuilder &builder = toyPlan()) : run_(1, 1, builder) {
    // Row t predicts 3t + 1 modulo 16.
    HostCopy<float> weights = run_.weights();
    std::ranges::fill(weights, 0.0F);
    for (size_t t = 0; t < 16; ++t)
      weights[t * 16 + (3 * t + 1) % 16] = 50;
  }

  Status generate(std::vector<uint32_t> prompt, uint64_t maxTokens) {
    const Status status = generateAll({std::move(prompt)}, maxTokens);
    tokens_ = texts_[0];
    return status;
  }

  /// Continues several prompts, and notes the texts that end in `ended_`.
  Status generateAll(
      const std::vector<std::vector<uint32_t>> &prompts, uint64_t maxTokens,
      const std::function<bool()> &stops = [] { return false; }) {
    auto generator = Generator::create(run_.executor());
    EXPECT_TRUE(generator.ok()) << generator.status().message();
    texts_.assign(prompts.size(), {});
    begun_ = 0;
    const Result<bool> isDone = generator->run(
        [&]() -> std::optional<Continuation> {
          if (begun_ == prompts.size())
            return std::nullopt;
          const size_t index = begun_++;
          return Continuation{.prompt = prompts[index],
                              .maxTokens = maxTokens,
                              .sampler = Sampler({.temperature = temperature_, .seed = 4}),
                              .onToken =
                                  [&, index](uint32_t token) {
                                    texts_[index].push_back(token);
                                    return token != stopAt_;
                                  },
                              .onEnd = [&, index] { ended_.push_back(index); }};
        },
        stops);
    isDone_ = isDone.ok() && *isDone;
    return isDone.status();
  }

  ToyRun run_;
  bool isDone_ = false; ///< whether all texts of generateAll() came to their ends
  std::vector<uint32_t> tokens_;
  std::vector<std::vector<uint32_t>> texts_;
  std::vector<size_t> ended_;
  size_t begun_ = 0;
  double temperature_ = 0;
  uint32_t stopAt_ = 99;
};

TEST_F(GenerateTest, Continues) {
  ASSERT_TRUE(generate({5, 1}, 5).ok());
  EXPECT_THAT(tokens_, ElementsAre(4, 13, 8, 9, 12));
  ASSERT_TRUE(generate({5}, 0).ok());
  EXPECT_TRUE(tokens_.empty());
}

TEST_F(GenerateTest, GoesOnBeyondTheContext) {
  ASSERT_TRUE(generate({1, 4, 13, 8, 9, 12, 5, 0}, 30).ok());
  ASSERT_EQ(tokens_.size(), 30U);
  uint32_t previous = 0;
  for (const uint32_t token : tokens_) {
    EXPECT_EQ(token, (3 * previous + 1) % 16);
    previous = token;
  }
}

TEST_F(GenerateTest, StopsWhenToldTo) {
  stopAt_ = 13;
  ASSERT_TRUE(generate({1}, 30).ok());
  EXPECT_THAT(tokens_, ElementsAre(4, 13));
}

TEST_F(GenerateTest, RefusesPrompts) {
  EXPECT_THAT(generate({}, 1).message(), HasSubstr("the prompt is empty"));
  EXPECT_THAT(generate(std::vector<uint32_t>(9, 1), 1).message(),
              HasSubstr("the prompt has 9 tokens, the plan's context holds 8"));
  EXPECT_THAT(generate({1, 16}, 1).message(),
              HasSubstr("token 1 of the prompt is 16, beyond the model's vocabulary of 16"));
}

/// The toy plan, whose prefill writes zeros and takes as long as five and a half calls of decode.
PlanBuilder planWithoutPrefill() {
  PlanBuilder builder = toyPlan();
  for (const auto &entry : builder.plan.entries) {
    if (entry->name == "prefill") {
      entry->instructions.clear();
      builder.zero(entry->instructions, at(builder.plan.generation->logits), kToyVocabulary * sizeof(float));
      entry->instructions.front()->predicted_seconds = 0.55F;
    }
    if (entry->name == "decode")
      entry->instructions.front()->predicted_seconds = 0.1F;
  }
  return builder;
}

class ShortPromptTest : public GenerateTest {
protected:
  ShortPromptTest() : GenerateTest(planWithoutPrefill()) {}
};

TEST_F(ShortPromptTest, IsReadTokenByToken) {
  ASSERT_TRUE(generate({3, 1, 2, 7, 1}, 2).ok());
  EXPECT_THAT(tokens_, ElementsAre(4, 13));
  ASSERT_TRUE(generate({3, 1, 2, 7, 5, 1}, 1).ok());
  EXPECT_THAT(tokens_, ElementsAre(0));
}

class TextsTest : public GenerateTest {
protected:
  TextsTest() : GenerateTest(toyPlanOfTexts()) {}

  std::vector<std::vector<uint32_t>> prompts_{{1}, {3, 5, 1}, {8}, {2, 9}, {1, 4, 13, 8, 9, 12, 5, 0},
                                              {7}, {9}};
};

TEST_F(TextsTest, EqualTextsGeneratedAlone) {
  for (const double temperature : {0.0, 20.0}) {
    temperature_ = temperature;
    std::vector<std::vector<uint32_t>> alone;
    for (const auto &prompt : prompts_) {
      ASSERT_TRUE(generate(prompt, 25).ok());
      alone.push_back(tokens_);
    }
    ended_.clear();
    ASSERT_TRUE(generateAll(prompts_, 25).ok());
    EXPECT_EQ(texts_, alone);
    EXPECT_EQ(texts_[0].size(), 25U);
    EXPECT_THAT(ended_, UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6));
  }
}

TEST_F(TextsTest, EndAloneAndGiveTheirSlotsAway) {
  stopAt_ = 8; // follows 13, which follows 4, which follows 1
  ASSERT_TRUE(generateAll({{0}, {13}, {2}, {4}, {1}}, 6).ok());
  EXPECT_TRUE(isDone_);
  EXPECT_THAT(texts_, ElementsAre(ElementsAre(1, 4, 13, 8), ElementsAre(8), ElementsAre(7, 6, 3, 10, 15, 14),
                                  ElementsAre(13, 8), ElementsAre(4, 13, 8)));
  EXPECT_THAT(ended_, ElementsAre(1, 3, 0, 4, 2));
}

TEST_F(TextsTest, AllEndWhenToldTo) {
  stopAt_ = 8;
  ASSERT_TRUE(generateAll({{0}, {4}, {2}, {3}, {1}}, 30, [] { return true; }).ok());
  EXPECT_FALSE(isDone_);
  EXPECT_EQ(begun_, 3U);
  EXPECT_THAT(ended_, ElementsAre(1));
  EXPECT_THAT(texts_[1], ElementsAre(13, 8));
}

/// The toy plan of several texts, whose prefill writes zeros and is predicted to take `seconds`; decode takes
/// 0.1. So a prompt that prefill reads continues with token 0.
PlanBuilder planOfTextsWithoutPrefill(float seconds) {
  PlanBuilder builder = toyPlanOfTexts();
  for (const auto &entry : builder.plan.entries) {
    if (entry->name == "prefill") {
      entry->instructions.clear();
      builder.zero(entry->instructions, at(builder.plan.generation->logits),
                   kToyTexts * kToyVocabulary * sizeof(float));
      entry->instructions.front()->predicted_seconds = seconds;
    }
    if (entry->name == "decode")
      entry->instructions.front()->predicted_seconds = 0.1F;
  }
  return builder;
}

/// Prefill takes as long as one and a half calls of decode, which the two other texts would wait for, too.
class ShortPromptsOfTextsTest : public GenerateTest {
protected:
  ShortPromptsOfTextsTest() : GenerateTest(planOfTextsWithoutPrefill(0.15F)) {}
};

TEST_F(ShortPromptsOfTextsTest, AreReadBesideOtherTexts) {
  ASSERT_TRUE(generateAll({{1}, {3, 5, 1}, {2, 9, 3, 1}, {3, 1, 2, 7, 1}, {5, 3, 8}, {6, 2}}, 4).ok());
  EXPECT_THAT(texts_,
              ElementsAre(ElementsAre(4, 13, 8, 9), ElementsAre(4, 13, 8, 9), ElementsAre(4, 13, 8, 9),
                          ElementsAre(0, 1, 4, 13), ElementsAre(9, 12, 5, 0), ElementsAre(7, 6, 3, 10)));
  EXPECT_THAT(ended_, UnorderedElementsAre(0, 1, 2, 3, 4, 5));
}

/// A text that fills the context is cut to four tokens, which decode reads beside the other text.
TEST_F(ShortPromptsOfTextsTest, AreTheRestsOfTextsThatFillTheContext) {
  ASSERT_TRUE(generateAll({{2, 2, 2, 2, 2, 2, 2, 2}, {1}}, 11).ok());
  EXPECT_THAT(texts_, ElementsAre(ElementsAre(0, 1, 4, 13, 8, 9, 12, 5, 0, 1, 4),
                                  ElementsAre(4, 13, 8, 9, 12, 5, 0, 1, 4, 13, 8)));
}

/// Prefill takes as long as a call of decode, so that it reads four tokens as well.
class LongPromptsOfTextsTest : public GenerateTest {
protected:
  LongPromptsOfTextsTest() : GenerateTest(planOfTextsWithoutPrefill(0.1F)) {}
};

/// Prefill reads the prompt, whose first token fills the context, and at once the rest of four tokens; and so
/// whenever four more tokens have filled the context again.
TEST_F(LongPromptsOfTextsTest, ArePrefilledAgainWhenTheyFillTheContext) {
  ASSERT_TRUE(generateAll({{2, 2, 2, 2, 2, 2, 2, 2}, {1, 1}}, 11).ok());
  EXPECT_THAT(texts_, ElementsAre(ElementsAre(0, 0, 1, 4, 13, 8, 0, 1, 4, 13, 8),
                                  ElementsAre(4, 13, 8, 9, 12, 5, 0, 0, 1, 4, 13)));
}

TEST_F(TextsTest, SkipsTextsWithoutTokens) {
  ASSERT_TRUE(generateAll(prompts_, 0).ok());
  EXPECT_EQ(begun_, prompts_.size());
  EXPECT_EQ(ended_.size(), prompts_.size());
}

/// Prints to a text.
struct Printed {
  std::string text;
  OrderedOutput output{3, [&](std::string_view piece) -> Status {
                         text += piece;
                         return {};
                       }};
};

TEST(OrderedOutput, PrintsTextsInTheirOrder) {
  Printed printed;
  printed.output.add(1, "b");
  EXPECT_EQ(printed.text, "");
  printed.output.add(0, "a");
  printed.output.add(0, "A");
  EXPECT_EQ(printed.text, "aA") << "the first text is printed at once";
  printed.output.end(1);
  printed.output.add(2, "c");
  EXPECT_EQ(printed.text, "aA");
  printed.output.end(0);
  EXPECT_EQ(printed.text, "aA\n\nb\n\nc");
  printed.output.add(2, "C");
  printed.output.end(2);
  printed.output.end(2);
  EXPECT_EQ(printed.text, "aA\n\nb\n\ncC\n");
}

TEST(OrderedOutput, SkipsTextsWithoutPieces) {
  Printed printed;
  printed.output.end(1);
  printed.output.end(0);
  printed.output.add(2, "c");
  printed.output.end(2);
  EXPECT_EQ(printed.text, "c\n");
}

TEST(OrderedOutput, KeepsTheFirstError) {
  int calls = 0;
  OrderedOutput output(2, [&](std::string_view) { return failed("error {}", ++calls); });
  output.add(0, "a");
  output.add(0, "b");
  output.end(0);
  output.add(1, "c");
  EXPECT_EQ(output.status().message(), "error 1");
  EXPECT_EQ(calls, 1);
}

TEST(Generator, NeedsAPlanThatGenerates) {
  PlanBuilder builder = toyPlan();
  builder.plan.generation.reset();
  ToyRun run(1, 1, builder);
  EXPECT_THAT(Generator::create(run.executor()).status().message(),
              HasSubstr("plan 'toy' has no entries 'prefill' and 'decode'"));
}

} // namespace
} // namespace trainc::test
