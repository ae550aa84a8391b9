// Every option of other training programs has an answer, and every option that an answer names exists.
#include "tools/common/foreign_options.h"

#include "tools/common/option_homes.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <regex>

namespace trainc {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

bool isOf(std::span<const std::string_view> options, std::string_view name) {
  return std::ranges::find(options, name) != options.end();
}

/// Options of subcommands other than compile, and of both programs, which the lists leave out.
bool isBesides(std::string_view name) { return name == "quiet" || name == "dtype"; }

/// Names after "--" in an answer.
std::vector<std::string> optionsIn(std::string_view text) {
  static const std::regex kOption("--([a-z][a-z0-9-]*)");
  const std::string copy(text);
  std::vector<std::string> names;
  for (std::sregex_iterator at(copy.begin(), copy.end(), kOption), end; at != end; ++at)
    names.push_back((*at)[1]);
  return names;
}

/// foreign_options.txt is what make_foreign_options.py read in the sources of those programs.
TEST(ForeignOptions, EachHasAnAnswerOfBothPrograms) {
  std::ifstream list(FOREIGN_OPTIONS);
  size_t count = 0;
  for (std::string name, program; list >> name && std::getline(list, program); ++count) {
    std::string own = name;
    std::ranges::replace(own, '_', '-');
    // An option of the program itself needs no answer.
    const bool isCompiles = isOf(optionsOfCompile(), own), isTrainruns = isOf(optionsOfTrainrun(), own);
    EXPECT_TRUE(isTrainruns || isBesides(own) || own == "help" || homeOutsideTrainrun(name))
        << name << program;
    EXPECT_TRUE(isCompiles || isBesides(own) || own == "help" || homeOutsideCompile(name)) << name << program;
  }
  EXPECT_GT(count, 300);
}

TEST(ForeignOptions, EachAnswerNamesOptionsThatExist) {
  for (const ForeignOption &each : foreignOptions()) {
    EXPECT_FALSE(each.advice.empty()) << each.name;
    const std::vector<std::string> named = optionsIn(each.advice);
    if (each.home == Home::kCompile || each.home == Home::kTrainrun) {
      ASSERT_EQ(named.size(), 1) << each.name;
      EXPECT_THAT(std::string(each.advice), StartsWith("--"));
    }
    for (const std::string &name : named) {
      const bool isKnown = each.home == Home::kCompile ? isOf(optionsOfCompile(), name)
                           : each.home == Home::kTrainrun
                               ? isOf(optionsOfTrainrun(), name)
                               : isOf(optionsOfCompile(), name) || isOf(optionsOfTrainrun(), name);
      EXPECT_TRUE(isKnown || isBesides(name)) << each.name << ": --" << name;
    }
  }
}

TEST(ForeignOptions, NoneIsInTheTableTwiceOrHidesAnOptionOfOurs) {
  const auto entries = foreignOptions();
  EXPECT_TRUE(std::ranges::is_sorted(entries, std::ranges::less(), &ForeignOption::name));
  EXPECT_EQ(std::ranges::adjacent_find(entries, {}, &ForeignOption::name), entries.end());
  for (const auto options : {optionsOfCompile(), optionsOfTrainrun()})
    for (const std::string_view own : options)
      EXPECT_EQ(findForeignOption(own), nullptr) << own;
}

TEST(ForeignOptions, AnswersSayWhoDecides) {
  EXPECT_EQ(homeOutsideTrainrun("bf16"),
            "the plan has decided it. Give --precision=bf16 to trainc compile, and run the new plan");
  EXPECT_EQ(homeOutsideCompile("bf16"), "it is called --precision=bf16 here");
  EXPECT_EQ(homeOutsideTrainrun("output_dir"), "it is called --checkpoint-dir=DIR here");
  EXPECT_EQ(homeOutsideCompile("save_steps"),
            "trainrun decides it. Give --checkpoint-every=N to trainrun, with the plan");
  EXPECT_EQ(homeOutsideCompile("adam_beta1"),
            "it has no option. Write it in the model's train.program, as in `optimizer adamw(beta1 0.9)`");
  EXPECT_THAT(*homeOutsideTrainrun("deepspeed"), StartsWith("there is no such thing here yet; "));
  EXPECT_THAT(*homeOutsideTrainrun("num_train_epochs"), HasSubstr("--steps=N"));
  EXPECT_THAT(*homeOutsideTrainrun("torch_compile_mode"), StartsWith("it is not needed here: "));
  EXPECT_EQ(homeOutsideTrainrun("train-data"), "it is called --data=FILE here");
  EXPECT_EQ(homeOutsideTrainrun("train-iters"), "it is called --steps=N here");
  EXPECT_EQ(homeOutsideTrainrun("model_name_or_path"), "it is called --init=FILE here");
  EXPECT_EQ(homeOutsideCompile("micro-batch-size"), "it is called --micro-batch=N here");
  EXPECT_EQ(homeOutsideCompile("gradient-clip-val"),
            "it has no option. Write it in the model's train.program, as in `clip 1.0`");
  EXPECT_THAT(*homeOutsideTrainrun("top-p"),
              AllOf(StartsWith("there is no such thing here yet; "), HasSubstr("--top-k")));
  EXPECT_THAT(*homeOutsideCompile("lora-rank"), StartsWith("there is no such thing here yet; "));
  // The longest beginning wins, and a name of its own over both.
  EXPECT_THAT(*homeOutsideCompile("parallelism_config_dp_shard_size"), HasSubstr("--hybrid-shard"));
  EXPECT_EQ(homeOutsideCompile("frobnicate"), std::nullopt);
}

} // namespace
} // namespace trainc
