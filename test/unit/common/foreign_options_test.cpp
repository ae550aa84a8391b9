// Every option of other training programs has an answer, and every option that an answer names exists.
#include "tools/common/foreign_options.h"

#include "tools/common/option_homes.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <regex>
#include <tuple>
#include <utility>

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
      ASSERT_FALSE(named.empty()) << each.name;
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
  const auto key = [](const ForeignOption &each) { return std::pair(each.name, each.value); };
  EXPECT_TRUE(std::ranges::is_sorted(entries, std::ranges::less(), key));
  EXPECT_EQ(std::ranges::adjacent_find(entries, {}, key), entries.end());
  for (const auto options : {optionsOfCompile(), optionsOfTrainrun()})
    for (const std::string_view own : options) {
      const ForeignOption *without = findForeignOption(own); // --cpu is a flag elsewhere
      EXPECT_TRUE(!without || without->value == kNoValue) << own;
      EXPECT_EQ(findForeignOption(own, "value"), nullptr) << own;
    }
}

TEST(ForeignOptions, AnswersSayWhoDecides) {
  EXPECT_EQ(homeOutsideTrainrun("bf16"),
            "the plan has decided it. Give --precision=bf16 to trainc compile, and run the new plan");
  EXPECT_EQ(homeOutsideCompile("bf16"), "write --precision=bf16");
  EXPECT_EQ(homeOutsideTrainrun("output_dir"), "write --checkpoint-dir=DIR");
  EXPECT_EQ(homeOutsideCompile("save_steps"),
            "trainrun decides it. Give --checkpoint-every=N to trainrun, with the plan");
  EXPECT_EQ(
      homeOutsideCompile("adam_beta1"),
      "there is no option for it; write it in the model's train.program, as in `optimizer adamw(beta1 0.9)`");
  EXPECT_THAT(*homeOutsideTrainrun("deepspeed"), StartsWith("there is no such thing here yet; "));
  EXPECT_EQ(homeOutsideTrainrun("num_train_epochs"), "write --epochs=N");
  EXPECT_THAT(*homeOutsideTrainrun("torch_compile_mode"), StartsWith("it is not needed here: "));
  EXPECT_EQ(homeOutsideTrainrun("train-data"), "write --data=FILE");
  EXPECT_EQ(homeOutsideTrainrun("train-iters"), "write --steps=N");
  EXPECT_EQ(homeOutsideTrainrun("model_name_or_path"),
            "write --init=DIR (of this machine; nothing is downloaded)");
  EXPECT_EQ(homeOutsideCompile("micro-batch-size"), "write --micro-batch=N");
  EXPECT_EQ(homeOutsideCompile("gradient-clip-val"),
            "there is no option for it; write it in the model's train.program, as in `clip 1.0`");
  EXPECT_THAT(*homeOutsideTrainrun("generation-num-beams"),
              AllOf(StartsWith("there is no such thing here yet; "), HasSubstr("--top-k")));
  EXPECT_EQ(
      homeOutsideCompile("learning_rate"),
      "there is no option for it; write it in the model's train.program, as in `optimizer adamw(lr 1e-3)`");
  EXPECT_EQ(homeOutsideCompile("lora_target_modules"), "write --lora=LAYERS (such as --lora=all-linear)");
  // The longest beginning wins, and a name of its own over both.
  EXPECT_THAT(*homeOutsideCompile("parallelism_config_dp_shard_size"), HasSubstr("--hybrid-shard"));
  EXPECT_EQ(homeOutsideCompile("frobnicate"), std::nullopt);
}

TEST(ForeignOptions, OtherOptionsThatAreCommon) {
  constexpr std::string_view kCommon[] = {"r",
                                          "t",
                                          "m",
                                          "v",
                                          "j", // torchrun's, and of command lines in general
                                          "attn_implementation",
                                          "bnb_4bit_compute_dtype",
                                          "cutoff_len",
                                          "dataset_text_field",
                                          "device_map",
                                          "dispatch_batches",
                                          "dist_backend",
                                          "early_stopping_patience",
                                          "eval_packing",
                                          "finetuning_type",
                                          "flash_attention",
                                          "fp8",
                                          "load_in_4bit",
                                          "low_cpu_mem_usage",
                                          "sample_packing",
                                          "sequence_len",
                                          "sequence_parallel",
                                          "num_layers",
                                          "scheduler",
                                          "steps_per_print",
                                          "tp_size",
                                          "use_lora",
                                          "use_peft",
                                          "use_tp",
                                          "xpu_backend"};
  for (const std::string_view name : kCommon) {
    EXPECT_TRUE(homeOutsideTrainrun(name)) << name;
    EXPECT_TRUE(homeOutsideCompile(name)) << name;
  }
  EXPECT_EQ(homeOutsideTrainrun("r", "3"),
            "it is not needed here: torchrun takes it: write it before trainrun");
  EXPECT_EQ(homeOutsideCompile("fp8"), "write --precision=bf16 --product-type=fp8");
  EXPECT_EQ(homeOutsideTrainrun("dist_backend", "nccl"), "write --comm=NAME");
  EXPECT_EQ(homeOutsideCompile("lora_r"), "write --lora-rank=N");
  EXPECT_EQ(homeOutsideCompile("use_lora"), "write --lora=LAYERS (such as --lora=all-linear)");
}

/// Options whose names are ours, with values of other programs.
TEST(ForeignOptions, ValuesOfOurOptionsElsewhere) {
  EXPECT_EQ(homeOutsideTrainrun("cpu"),
            "it is not needed here: --target=cpu is the default of trainc compile");
  EXPECT_EQ(homeOutsideCompile("cpu"), homeOutsideTrainrun("cpu"));
  EXPECT_EQ(homeOutsideTrainrun("cpu", "native"),
            "the plan has decided it. Give --cpu to trainc compile, and run the new plan");
  EXPECT_EQ(homeOutsideCompile("cpu", "native"), std::nullopt);
  EXPECT_EQ(homeOutsideCompile("offload", "nvme"), "write --offload=optimizer --offload-to=disk");
  EXPECT_EQ(homeOutsideCompile("offload", "CPU"), "write --offload=optimizer --offload-to=host");
  EXPECT_EQ(homeOutsideCompile("offload", "optimiser"), std::nullopt);
  EXPECT_EQ(homeOfForeignValue("offload", "optimiser"), std::nullopt);
  EXPECT_EQ(homeOfForeignValue("precision", "float16"), std::nullopt);
  EXPECT_EQ(homeOfForeignValue("offload", "nvme"), "write `offload \"optimizer\"` and `offload_to disk`");
}

TEST(ForeignOptions, AnswersFollowTheValue) {
  const std::tuple<const char *, const char *, const char *> cases[] = {
      {"dtype", "float32", "write --precision=fp32"},
      {"torch_dtype", "float16", "write --precision=fp16"},
      {"dtype", "torch.bfloat16", "write --precision=bf16"},
      {"dtype", "auto", "write --precision=NAME"},
      {"mixed_precision", "fp8", "write --precision=bf16 --product-type=fp8"},
      {"bf16", "True", "write --precision=bf16"},
      {"bf16", "False", "leave it out; `--precision=bf16` would turn it on"},
      {"mixed_precision", "no", "leave it out; `--precision=NAME` would turn it on"},
      {"gradient_checkpointing", "False", "leave it out; `--activation-checkpointing=full` would turn it on"},
      {"fsdp_sharding_strategy", "2", "write --zero-stage=2"},
      {"fsdp_sharding_strategy", "NO_SHARD", "write --zero-stage=0"},
      {"fsdp", "full_shard auto_wrap", "write --zero-stage=3"},
      {"fsdp", "full_shard offload", "write --zero-stage=3 --offload=parameters,optimizer"},
      {"fsdp", "full_shard auto_wrap offload", "write --zero-stage=3 --offload=parameters,optimizer"},
      {"fsdp", "shard_grad_op offload", "write --zero-stage=2 --offload=parameters,optimizer"},
      {"fsdp", "hybrid_shard_zero2 offload",
       "write --zero-stage=2 --hybrid-shard=K --offload=parameters,optimizer"},
      {"fsdp_reshard_after_forward", "false", "write --reshard-after-forward=false"},
      {"no_cuda", "False", "write --target=cuda"},
      {"device", "cuda:0", "write --target=cuda"},
      {"offload_optimizer_device", "nvme", "write --offload=optimizer --offload-to=disk"},
      {"optim", "sgd",
       "there is no option for it; write it in the model's train.program, as in `optimizer sgd(lr 1e-2, "
       "momentum "
       "0.9)`"},
      {"lr_scheduler_type", "linear",
       "there is no option for it; write it in the model's train.program, as in `schedule linear(warmup "
       "100)`"},
      {"lr_scheduler_type", "polynomial",
       "there is no option for it; write it in the model's train.program, as in `schedule "
       "polynomial(power 2, warmup 100)`"},
      {"lr_scheduler_type", "reduce_lr_on_plateau",
       "there is no such thing here yet; there are the schedules constant, linear, cosine, "
       "cosine_with_restarts, polynomial, one_minus_sqrt, inverse_sqrt, one_cycle and lr_range_test, as in "
       "`schedule cosine(warmup 100)`"},
  };
  for (const auto &[name, value, answer] : cases)
    EXPECT_EQ(homeOutsideCompile(name, value), answer) << name << '=' << value;
  EXPECT_EQ(homeOutsideTrainrun("resume_from_checkpoint", "True"), "write --resume");
  EXPECT_EQ(homeOutsideTrainrun("save_strategy", "no"),
            "leave it out; `--checkpoint-every=N` would turn it on");
}

/// Answers say it if a number counts something else here, or in another unit.
TEST(ForeignOptions, AnswersSayUnits) {
  EXPECT_THAT(*homeOutsideCompile("train_batch_size", "64"),
              HasSubstr("a step has N x --accumulate x --ranks"));
  EXPECT_THAT(*homeOutsideCompile("ddp_bucket_cap_mb", "25"), HasSubstr("elements, not megabytes"));
  EXPECT_THAT(*homeOutsideCompile("stage3_prefetch_bucket_size"), HasSubstr("in units, not elements"));
  EXPECT_THAT(*homeOutsideCompile("warmup_ratio", "0.1"), HasSubstr("linear(warmup_ratio 0.03)"));
  EXPECT_THAT(*homeOutsideTrainrun("logging_steps", "10"), HasSubstr("about twenty lines"));
  EXPECT_THAT(*homeOutsideTrainrun("generation_max_length"), HasSubstr("without those of the prompt"));
  EXPECT_THAT(*homeOutsideTrainrun("model_name_or_path", "gpt2"), HasSubstr("nothing is downloaded"));
}

/// The page promises an answer to the arguments in its tables.
TEST(ForeignOptions, EachArgumentOfThePageHasAnAnswer) {
  std::ifstream page(FROM_TRAINER);
  const std::regex kArgument("`([a-z][a-z0-9]*(_[a-z0-9]+)+)`");
  size_t count = 0;
  bool isWanted = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## "))
      isWanted = line == "## `TrainingArguments`" || line == "## `ds_config.json`" || line == "## nanoGPT";
    if (!isWanted || !line.starts_with("| `"))
      continue;
    const std::string cell = line.substr(0, line.find(" | "));
    for (std::sregex_iterator at(cell.begin(), cell.end(), kArgument), end; at != end; ++at, ++count) {
      std::string own = (*at)[1];
      std::ranges::replace(own, '_', '-');
      EXPECT_TRUE(isOf(optionsOfCompile(), own) || homeOutsideCompile(own)) << own;
      EXPECT_TRUE(isOf(optionsOfTrainrun(), own) || homeOutsideTrainrun(own)) << own;
    }
  }
  EXPECT_GT(count, 60);
}

} // namespace
} // namespace trainc
