#include "tools/trainc/Cli.h"

#include "tools/common/answer.h"
#include "tools/common/arguments.h"
#include "tools/common/option_homes.h"
#include "tools/common/validators.h"
#include "tools/trainc/ShardingCli.h"

#include <span>
#include <utility>

namespace trainc {

namespace {

template <typename Enum> using Choices = std::vector<std::pair<std::string, Enum>>;

const Choices<Phase> kPhases = {{"model", Phase::Model},
                                {"step", Phase::Step},
                                {"spmd", Phase::Spmd},
                                {"scheduled", Phase::Scheduled},
                                {"plan", Phase::Plan}};

const Choices<Fp32Products> kFp32Products = {{"fma", Fp32Products::Fma}, {"bf16x3", Fp32Products::Bf16x3}};

const Choices<ActivationCheckpointing> kCheckpointing = {{"none", ActivationCheckpointing::None},
                                                         {"selective", ActivationCheckpointing::Selective}};

const Choices<SafetensorsDType> kFloatDTypes = {
    {"fp32", SafetensorsDType::kF32}, {"bf16", SafetensorsDType::kBF16}, {"fp16", SafetensorsDType::kF16}};

/// Turns a word into the number that CLI11 makes an Enum of. (Its own transformer takes numbers as well, and
/// shows them in messages.)
template <typename Enum> CLI::Validator oneOf(const Choices<Enum> &choices) {
  return {[choices](std::string &text) {
            std::string expected;
            for (const auto &[word, value] : choices) {
              if (CLI::detail::to_lower(text) == word) {
                text = std::to_string(static_cast<int>(value));
                return std::string();
              }
              expected += (expected.empty() ? "" : ", ") + word;
            }
            return fmt::format("expected one of {}, found '{}'", expected, text);
          },
          "WORD"};
}

/// Turns "2KiB" into "2048"; false where it is no size above 0.
bool toBytes(std::string &text) {
  if (text.starts_with('0')) // would make it octal
    return false;
  try {
    return CLI::AsSizeValue(false)(text).empty() && kPositive(text).empty();
  } catch (const CLI::ValidationError &) {
    return false;
  }
}

const CLI::Validator kBytes(
    [](std::string &text) {
      const std::string given = text;
      if (toBytes(text))
        return std::string();
      return fmt::format("expected a number of bytes above 0, such as 16GiB, found '{}'", given);
    },
    "SIZE");

/// Options whose other values come with a later version: anything but what works is refused by name.
struct FixedOptions {
  std::string precision = "fp32";
};

void requireSupported(const FixedOptions &fixed) {
  if (fixed.precision != "fp32")
    throw CLI::ValidationError("--precision",
                               fmt::format("this version computes in fp32, found {}", fixed.precision));
}

void addCompile(CLI::App &app, CompileCommand &command, FixedOptions &fixed) {
  CLI::App *compile =
      app.add_subcommand("compile", "Compile a model and its training program to a plan file");
  compile->footer("Examples:\n"
                  "  trainc compile examples/gpt/small.mlir -o small.plan\n"
                  "  trainc compile gpt.mlir -o gpt.plan --micro-batch=4 --seq-len=256 --report=gpt.json\n"
                  "  trainc compile gpt.mlir --compile-to=step          # print the step's IR\n"
                  "Options win over the model's train.program.");
  CompileOptions &options = command.options;
  compile->add_option("model", command.model, "Model text (.mlir)")->required()->type_name("MODEL.mlir");
  compile->add_option("-o,--output", command.output, "Plan file to write")->type_name("PLAN");
  compile->add_option("--target", options.target, "What the plan runs on")
      ->check(CLI::IsMember({"cpu"}))
      ->type_name("NAME")
      ->capture_default_str();
  compile
      ->add_option("--fp32-products", options.fp32Products,
                   "How matrix products of fp32 numbers are computed: fma on every CPU, or bf16x3, as\n"
                   "accurate and faster, on CPUs with AMX")
      ->transform(oneOf(kFp32Products))
      ->default_str("fma")
      ->type_name("fma|bf16x3");
  compile->add_option("--micro-batch", options.microBatch, "Samples per micro-batch and rank")
      ->check(kPositive)
      ->type_name("N");
  compile->add_option("--accumulate", options.accumulate, "Micro-batches per step")
      ->check(kPositive)
      ->type_name("N");
  compile
      ->add_option("--eval-batch", options.evalBatch,
                   "Samples per evaluation batch; default: the micro-batch")
      ->check(kPositive)
      ->type_name("N");
  compile->add_option("--seq-len", options.seqLen, "Tokens per sample")->check(kPositive)->type_name("N");
  compile
      ->add_option("--memory-limit", options.memoryLimit,
                   "Bytes a process that runs the plan may take, e.g. 16GiB")
      ->transform(kBytes)
      ->type_name("SIZE");
  compile->add_option("--ranks", options.ranks, "Processes that train together, each on samples of its own")
      ->check(kPositive)
      ->type_name("N");
  compile
      ->add_option(
          "--zero-stage", options.zeroStage,
          "What each rank keeps a part of: nothing (0), the optimizer's states (1), gradients too (2),\n"
          "parameters too (3); on one rank all stages are the same program")
      ->check(wholeNumber<int64_t>(0, 3))
      ->type_name("N");
  addSharding(*compile, options.sharding);
  compile->add_option("--precision", fixed.precision, "Precision of the step; this version: fp32")
      ->check(CLI::IsMember({"fp32", "bf16", "fp16"}))
      ->type_name("NAME")
      ->capture_default_str();
  compile
      ->add_option(
          "--activation-checkpointing", options.activationCheckpointing,
          "What the backward computes again instead of keeping it from the forward: nothing (none),\n"
          "or what is cheap (selective): all but matrix products and attention")
      ->transform(oneOf(kCheckpointing))
      ->default_str("none")
      ->type_name("none|selective");
  compile
      ->add_option("--compile-to", options.compileTo,
                   "Stop after this phase and print the IR: model, step, spmd, scheduled, plan")
      ->transform(oneOf(kPhases))
      ->type_name("PHASE");
  compile->add_option("--dump-ir", options.dumpDir, "Write numbered snapshots of the IR after every pass")
      ->type_name("DIR");
  compile->add_option("--report", command.report, "Write sizes, work and memory as JSON")
      ->type_name("FILE.json");
}

void addTokenize(CLI::App &app, TokenizeCommand &command) {
  CLI::App *tokenize = app.add_subcommand("tokenize", "Turn text files into a token file");
  tokenize->footer("Examples:\n"
                   "  trainc tokenize --tokenizer=bytes book.txt -o tokens.bin\n"
                   "  trainc tokenize --tokenizer=gpt2/tokenizer.json 'texts/*.txt' -o tokens.bin");
  tokenize
      ->add_option("--tokenizer", command.tokenizer,
                   "bytes, a tokenizer.json, or a folder with one or with vocab.json and merges.txt")
      ->capture_default_str()
      ->type_name("bytes|FILE");
  tokenize->add_option("--end-token", command.endToken,
                       "Special token to write after each text, e.g. '<|endoftext|>'");
  tokenize->add_option("texts", command.texts, "Text files or patterns")->required()->type_name("TEXT...");
  tokenize->add_option("-o,--output", command.output, "Token file to write")->required()->type_name("FILE");
}

void addConsolidate(CLI::App &app, ConsolidateCommand &command) {
  CLI::App *consolidate =
      app.add_subcommand("consolidate", "Write a model's weights to one file that Hugging Face loads");
  consolidate->footer("Examples:\n"
                      "  trainc consolidate run1 -o model.safetensors       # of the latest checkpoint\n"
                      "  trainc consolidate run1/step-00000100 --dtype=bf16 -o export/model.safetensors");
  consolidate
      ->add_option("checkpoint", command.checkpoint,
                   "A checkpoint, a folder of checkpoints (the latest is taken), a safetensors file, or a\n"
                   "folder with model.safetensors or model.safetensors.index.json")
      ->required()
      ->type_name("CHECKPOINT");
  consolidate->add_option("-o,--output", command.output, "Safetensors file to write")
      ->required()
      ->type_name("FILE.safetensors");
  consolidate
      ->add_option("--dtype", command.dtype,
                   "What floats are rounded to, the nearest, of two the even one; a number that is too\n"
                   "large is an error")
      ->transform(oneOf(kFloatDTypes))
      ->default_str("fp32")
      ->type_name("fp32|bf16|fp16");
}

void addSign(CLI::App &app, SignCommand &command) {
  CLI::App *sign =
      app.add_subcommand("sign", "Sign a plan, for machines that run no other (trainrun --trust)");
  sign->footer("Writes PLAN.sig. Examples:\n"
               "  openssl genpkey -algorithm ed25519 -out key.pem         # once; keep it secret\n"
               "  openssl pkey -in key.pem -pubout -out keys.pem          # for machines that run plans\n"
               "  trainc sign gpt.plan --key=key.pem\n"
               "  trainrun gpt.plan --trust=keys.pem --data tokens.bin");
  sign->add_option("plan", command.plan, "Plan file")->required()->type_name("PLAN");
  sign->add_option("--key", command.key, "Private key (Ed25519, PEM)")->required()->type_name("FILE.pem");
}

void requireOutput(const CompileCommand &command) {
  if (command.output.empty() && !command.options.compileTo)
    throw CLI::ValidationError(
        "compile", "name the plan to write with -o PLAN, or a phase to print with --compile-to=PHASE");
  if (!command.output.empty() && command.options.compileTo)
    throw CLI::ValidationError(
        "compile",
        "-o PLAN and --compile-to=PHASE contradict each other: the IR is printed, no plan is made");
}

/// The subcommand that the first argument names; null if it names none.
const CLI::App *findCommand(const CLI::App &app, std::span<const char *const> arguments) {
  const auto found = app.get_subcommands(
      [&](const CLI::App *each) { return !arguments.empty() && each->get_name() == arguments.front(); });
  return found.empty() ? nullptr : found.front();
}

/// Prints a usage error of the program or of a subcommand; returns the exit code.
int reportUsage(const CLI::App *command, std::string_view message) {
  putMessage(stderr, fmt::format("error: {}\nRun {} --help for the options\n", message,
                                 command ? "trainc " + command->get_name() : "trainc"));
  return 2;
}

/// Prints the help or the version that was asked for; returns the exit code.
int answer(const CLI::App &app, const CLI::ParseError &question) {
  const Status status = printAnswer(app, question);
  if (!status.ok())
    putMessage(stderr, fmt::format("error: {}\n", status.message()));
  return status.exitCode();
}

/// What is wrong with the arguments, as far as CLI11 would not see or say it as well.
std::optional<std::string> findProblem(const CLI::App &app, std::span<const char *const> arguments) {
  if (const CLI::App *command = findCommand(app, arguments))
    return findBadArgument(*command, arguments.subspan(1),
                           command->get_name() == "compile" ? homeOutsideCompile : FindHome());
  const std::string_view word = arguments.empty() ? "" : arguments.front();
  if (!word.starts_with('-'))
    return fmt::format("expected compile, tokenize, consolidate, sign or dump, found '{}'", word);
  return findBadArgument(app, arguments);
}

} // namespace

std::variant<Command, int> parseCommandLine(int argc, char **argv) {
  CLI::App app("trainc: compiles a model and its training step to a plan that trainrun executes");
  app.set_version_flag("--version", std::string("trainc ") + TRAINC_VERSION);
  app.require_subcommand(1);
  CompileCommand compile;
  FixedOptions fixed;
  TokenizeCommand tokenize;
  ConsolidateCommand consolidate;
  DumpCommand dump;
  SignCommand sign;
  addCompile(app, compile, fixed);
  addTokenize(app, tokenize);
  addConsolidate(app, consolidate);
  addSign(app, sign);
  app.add_subcommand("dump", "Print a plan file as text")
      ->add_option("plan", dump.plan, "Plan file")
      ->required()
      ->type_name("PLAN");
  const std::span<const char *const> arguments(argv + 1, argc > 0 ? argc - 1 : 0);
  if (const std::optional<std::string> problem = findProblem(app, arguments))
    return reportUsage(findCommand(app, arguments), *problem);
  try {
    app.parse(argc, argv);
    if (app.got_subcommand("compile")) {
      requireSupported(fixed);
      requireOutput(compile);
      return Command(compile);
    }
    if (app.got_subcommand("tokenize"))
      return Command(tokenize);
    if (app.got_subcommand("consolidate"))
      return Command(consolidate);
    if (app.got_subcommand("sign"))
      return Command(sign);
    return Command(dump);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return answer(app, error);
    return reportUsage(findCommand(app, arguments), error.what());
  }
}

} // namespace trainc
