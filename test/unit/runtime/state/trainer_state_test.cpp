#include "runtime/state/trainer_state.h"

#include "base/hash.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace trainc {
namespace {

using testing::HasSubstr;

TrainerState example() {
  return {
      .plan = "gpt2",
      .step = 20,
      .skippedSteps = 3,
      .seed = 18446744073709551615ULL,
      .shuffle = false,
      .samples = 160,
      .tokens = 20480,
      .dataSamples = 999,
      .data = {{100, 5}, {200, 6, 7}},
      .learningRate = LearningRateCourse{fb::ScheduleKind::Cosine, 0.1 + 0.2, {7, 0, 1e-5, 0, 0}, 100, true},
      .environment = {{"tokenizer", "bytes"}, {"tokenizer_xxh3", "0"}},
      .files = {{"model.safetensors",
                 {4096, 0x0123456789abcdef, 64, {{"wte.weight", {0xffffffffffffffff, 3}}, {"empty", {}}}}},
                {"config.json", {10, 1}}}};
}

TEST(TrainerState, RoundTrip) {
  const auto read = TrainerState::fromJson("state.json", example().toJson());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, example());
}

TEST(TrainerState, TheHeaderOfAFileWithoutTensorsIsRecorded) {
  TrainerState state;
  state.files["optimizer.safetensors"] = {64, 3};
  const auto read = TrainerState::fromJson("state.json", state.toJson());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, state);
}

TEST(TrainerState, EveryChangedByteIsFoundOrHarmless) {
  const std::string text = example().toJson();
  size_t refused = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char flip : {1, 2, 32}) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      const auto read = TrainerState::fromJson("state.json", damaged);
      if (read.ok())
        EXPECT_EQ(*read, example()) << "byte " << i;
      else
        ++refused;
    }
  }
  EXPECT_GT(refused, text.size());
}

/// A text with its own valid checksum, as if written deliberately.
std::string sealed(nlohmann::json json) {
  json.erase("xxh3");
  const std::string text = json.dump();
  json["xxh3"] = fmt::format("{:016x}", xxh3(std::as_bytes(std::span(text))));
  return json.dump();
}

TEST(TrainerState, NumbersAreWholeAndNotNegative) {
  const auto good = nlohmann::json::parse(example().toJson());
  EXPECT_TRUE(TrainerState::fromJson("s.json", sealed(good)).ok());
  for (const char *key : {"step", "seed", "samples", "tokens", "data_samples", "skipped_steps"})
    for (const nlohmann::json &value :
         {nlohmann::json(-1), nlohmann::json(1.5), nlohmann::json("7"), nlohmann::json()}) {
      nlohmann::json bad = good;
      bad[key] = value;
      const Status status = TrainerState::fromJson("s.json", sealed(bad)).status();
      EXPECT_EQ(status.exitCode(), 2);
      EXPECT_THAT(
          status.message(),
          HasSubstr(fmt::format("'{}' must be a whole number of 0 or more, found {}", key, value.dump())));
    }
}

TEST(TrainerState, Errors) {
  EXPECT_THAT(TrainerState::fromJson("s.json", "[1]").status().message(),
              HasSubstr("s.json: not a JSON object"));
  EXPECT_THAT(
      TrainerState::fromJson("s.json", R"({"format": 3})").status().message(),
      HasSubstr("s.json: checkpoint format 3; this trainrun reads formats up to 2: use a newer trainrun"));
  EXPECT_THAT(TrainerState::fromJson("s.json", R"({"format": 1})").status().message(),
              HasSubstr("s.json: checksum mismatch: recorded null"));
}

} // namespace
} // namespace trainc
