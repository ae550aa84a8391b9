#include "runtime/state/trainer_state.h"

#include <gmock/gmock.h>

namespace trainc {
namespace {

using testing::HasSubstr;

TrainerState example() {
  return {
      .plan = "gpt2",
      .step = 20,
      .seed = 18446744073709551615ULL,
      .shuffle = false,
      .samples = 160,
      .tokens = 20480,
      .dataSamples = 999,
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
