#include "tools/trainrun/options.h"

#include "base/exit_codes.h"
#include "plan/file/file.h"
#include "plan/schema/limits.h"
#include "plan/settings/limits.h"
#include "runtime/device/device_kinds.h"
#include "tools/common/answer.h"
#include "tools/common/arguments.h"
#include "tools/common/option_homes.h"
#include "tools/common/validators.h"
#include "tools/trainrun/contradictions.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc {

namespace {

constexpr const char *kDescription =
    R"(Runs a plan that `trainc compile` made: trains the model on data, evaluates it, generates text.
The plan decides everything about the computation; the options below say on what, how long and
where to.)";

constexpr const char *kExamples = R"(Examples:
  trainrun gpt.plan --data tokens.bin --steps 1000 --checkpoint-dir run1 --metrics run1.jsonl
      trains 1000 steps; the last one writes run1/step-00001000
  trainrun gpt.plan --data tokens.bin --steps 2000 --checkpoint-dir run1 --resume
      goes on from the latest checkpoint, to step 2000 in all
  trainrun gpt.plan --data train.bin --eval-data val.bin --eval-every 100 --init gpt2.safetensors
      starts from the weights of a file and evaluates every 100 steps
  trainrun gpt.plan --resume=run1 --tokenizer=bytes --generate="In the beginning" --temperature 0.8
      continues a text with the weights of run1's latest checkpoint
  trainrun gpt4.plan --nproc-per-node=4 --data tokens.bin --steps 1000
      trains on 4 ranks, for which the plan was compiled (--ranks=4)
  trainrun gpt.plan --device=null
      verifies the plan and shows its memory, inputs and entries; computes nothing

`trainc help TOPIC` has more. Topics of trainrun: training, checkpoints, generate, data, ranks.

)";

/// A line of all exit codes.
std::string describeExitCodes() {
  std::vector<std::string> codes;
  for (const ExitCodeMeaning &each : kExitCodes)
    codes.push_back(fmt::format("{} {}", int(each.code), each.meaning));
  return fmt::format("Exit codes: {}.", fmt::join(codes, ", "));
}

/// Options that most command lines need.
constexpr std::string_view kCommonOptions[] = {"data",    "steps",          "eval-data",        "eval-every",
                                               "init",    "checkpoint-dir", "checkpoint-every", "resume",
                                               "metrics", "generate"};

/// Adds options under a heading of --help, those used most under a heading of their own.
class Group {
public:
  Group(CLI::App &app, std::string name) : app_(app), name_(std::move(name)) {}

  template <typename T> CLI::Option *add(const char *name, T &value, const std::string &description) {
    return withGroup(app_.add_option(name, value, description));
  }
  template <typename T> CLI::Option *addFlag(const char *name, T &value, const char *description) {
    return withGroup(app_.add_flag(name, value, description));
  }

private:
  CLI::Option *withGroup(CLI::Option *option) {
    const bool isCommon =
        std::ranges::find(kCommonOptions, option->get_lnames().front()) != std::end(kCommonOptions);
    return option->group(isCommon ? kMostUsed : name_);
  }

  CLI::App &app_;
  std::string name_;
};

void addData(CLI::App &app, Options &o) {
  Group group(app, "Data");
  group
      .add("--data", o.data,
           "Training data: token files or safetensors with the plan's columns; globs allowed")
      ->type_name("FILE");
  group.add("--eval-data", o.evalData, "Evaluation data, in the same formats")->type_name("FILE");
  group.add("--data-dtype", o.dataDType, "Width of raw token files, where no FILE.json beside them says it")
      ->type_name("uint8|uint16|uint32")
      ->transform(oneOfWords({"uint8", "uint16", "uint32"}));
  group
      .add("--tokenizer", o.tokenizer,
           "For --generate: 'bytes', a tokenizer.json, a folder with vocab.json and merges.txt, or with "
           "vocab.txt, or a .gguf file; default: what FILE.json beside --data names, or what the checkpoint "
           "was "
           "trained with")
      ->type_name("NAME");
}

void addTraining(CLI::App &app, Options &o) {
  Group group(app, "Training");
  group.add("--steps", o.steps, "Steps to reach in all, those before --resume included; default: the plan's")
      ->type_name("N")
      ->check(wholeNumber<uint64_t>(0, uint64_t(train::kMaxSteps)));
  group.add("--epochs", o.epochs, "Passes over --data instead of --steps, such as 3 or 0.5")
      ->type_name("N")
      ->check(number(0, 1e9));
  group
      .add("--seed", o.seed,
           "Seed of the initial weights, the order of the samples, dropout and --generate; "
           "default: 0, or the checkpoint's")
      ->type_name("N")
      ->check(wholeNumber<uint64_t>(0));
  group.addFlag("--no-shuffle", o.noShuffle,
                "Take samples in file order instead of one that the seed decides; also after --resume");
  group.add("--eval-every", o.evalEvery, "Evaluate every N steps; default: only after the last one")
      ->type_name("N")
      ->check(wholeNumber<uint64_t>(1));
  group
      .add("--on-nonfinite", o.onNonFinite,
           "After a step with a NaN or infinite loss or gradient, which changes nothing: 'stop' names the op "
           "that made it, 'skip' goes on")
      ->type_name("stop|skip")
      ->transform(oneOfWords({"stop", "skip"}))
      ->capture_default_str();
}

void addInitialWeights(CLI::App &app, Options &o) {
  Group group(app, "Training");
  group
      .add("--init", o.init,
           "Initial weights by name (Hugging Face's) from a safetensors file, a GGUF file, a "
           "model.safetensors.index.json, a folder with model.safetensors or an index, or a folder of "
           "checkpoints; given several times, from all of them together")
      ->type_name("FILE|DIR")
      ->allow_extra_args(false);
  group
      .add("--rename", o.rename,
           "With --init: tensors of FILE whose name is PATTERN (* for any text) get the name NAME, in which "
           "each * is the text of the same * in PATTERN; the first of several rules that matches counts")
      ->type_name("PATTERN=NAME")
      ->allow_extra_args(false);
  group
      .add("--init-missing", o.initMissing,
           "With --init: parameters with such names (* for any text; commas between several) are drawn where "
           "FILE lacks them or has another shape, such as a new head")
      ->type_name("PATTERN")
      ->delimiter(',')
      ->allow_extra_args(false);
  group
      .add("--init-ignore", o.initIgnore,
           "With --init: tensors of FILE with such names (* for any text; commas between several) are left "
           "out, such as a head that this model lacks")
      ->type_name("PATTERN")
      ->delimiter(',')
      ->allow_extra_args(false);
  group.addFlag(
      "--no-config-check", o.noConfigCheck,
      "With --init or --resume: take weights even if the config.json beside them describes a model that "
      "computes otherwise than the plan");
}

void addCheckpoints(CLI::App &app, Options &o) {
  Group group(app, "Checkpoints");
  group.add("--checkpoint-dir", o.checkpointDir, "Folder of checkpoints; the last step always writes one")
      ->type_name("DIR");
  group.add("--checkpoint-every", o.checkpointEvery, "Also write one every N steps")
      ->type_name("N")
      ->check(wholeNumber<uint64_t>(1));
  group
      .add("--keep-last", o.keepLast,
           "Remove older checkpoints when there are more than N; default: keep all")
      ->type_name("N")
      ->check(wholeNumber<uint64_t>(1));
  group.addFlag("--allow-changes", o.allowChanges,
                "With --resume: go on even with other data, another --seed, --seq-len or --no-shuffle than "
                "the run began with");
  group
      .addFlag("--resume{latest}", o.resume,
               "Go on from a checkpoint: --resume or --resume=latest: the latest in --checkpoint-dir; "
               "--resume=auto: the same, or from the beginning when there is none; --resume=DIR: that "
               "checkpoint, or the latest in DIR")
      ->type_name("latest|auto|DIR");
}

void addGeneration(CLI::App &app, Options &o) {
  Group group(app, "Generation");
  group
      .add("--generate", o.generate,
           "Continue this text on standard output, with the weights of --init, --resume, or of the training "
           "in the same run (then give --steps); given several times, continues one text after another")
      ->type_name("PROMPT")
      ->allow_extra_args(false);
  group.add("--prompts", o.prompts, "Continue each line of this file, after the texts of --generate")
      ->type_name("FILE");
  group
      .add("--generated", o.generated,
           "Also write each text to this file, as a JSON object a line with its prompt, text and ids of "
           "tokens")
      ->type_name("FILE.jsonl");
  group.add("--max-tokens", o.maxTokens, "Tokens to generate at most; default: 200")
      ->type_name("N")
      ->check(wholeNumber<uint64_t>(0));
  group
      .add("--end-token", o.endToken,
           "Token at which the text ends, e.g. '<|im_end|>'; default: those that the data, the model's "
           "config.json or the files beside the tokenizer name, else usual ones")
      ->type_name("TOKEN");
  group
      .add("--temperature", o.temperature, "Divides the logits; 0: always the most likely token; default: 1")
      ->type_name("T")
      ->check(number(0, 1e6));
  group.add("--top-k", o.topK, "Choose among the N most likely tokens; default: among all")
      ->type_name("N")
      ->check(wholeNumber<uint64_t>(1));
  group
      .add(
          "--top-p", o.topP,
          "Choose among the most likely tokens, leaving out the least likely ones whose probabilities sum to "
          "at most 1 - P; default: 1, none")
      ->type_name("P")
      ->check(number(0, 1));
  group
      .add("--min-p", o.minP,
           "Leave out tokens whose probability is below P times the highest one; default: 0, none")
      ->type_name("P")
      ->check(number(0, 1));
  group
      .add("--repetition-penalty", o.repetitionPenalty,
           "Makes tokens that the text has, prompt included, less likely: divides their logits by X, or "
           "multiplies negative ones; default: 1, no penalty")
      ->type_name("X")
      ->check(number(0.001, 1000));
}

/// "auto" and the names of a registry's kinds.
std::vector<std::string> namesOf(const auto &kinds) {
  std::vector<std::string> names = {"auto"};
  for (const auto &kind : kinds)
    names.emplace_back(kind.name);
  return names;
}

/// A clause for each kind of a registry, as the rest of a sentence.
std::string listOf(const auto &kinds) {
  std::string text;
  for (const auto &kind : kinds)
    text += fmt::format("; {}: {}", kind.name, kind.help);
  return text;
}

/// The number of ranks to start. torchrun also takes words, which count the processors of the machine.
CLI::Validator numberOfRanks() {
  return {[known = wholeNumber(1U, kMaxRanks)](std::string &text) {
            constexpr std::string_view kCounted[] = {"auto", "cpu", "gpu", "xpu"};
            if (std::ranges::find(kCounted, text) != std::end(kCounted))
              return fmt::format("expected the plan's number of ranks, found '{}'; a plan has as many as "
                                 "trainc compile --ranks=N says",
                                 text);
            return known(text);
          },
          ""};
}

void addMachine(CLI::App &app, Options &o) {
  Group group(app, "Machine");
  group.add("--device", o.device, "Where to run: auto is what the plan is for" + listOf(deviceKinds()))
      ->type_name(fmt::format("{}", fmt::join(namesOf(deviceKinds()), "|")))
      ->transform(oneOfWords(namesOf(deviceKinds())))
      ->capture_default_str();
  group
      .add("--offload-dir", o.offloadDir,
           "Folder for the states that the plan offloads to disk, in unnamed files; "
           "default: the disk of --checkpoint-dir, or the folder for temporary files (TMPDIR)")
      ->type_name("DIR");
  group.add("--device-seed", o.deviceSeed, "Draws the order of --device=emulated; default: 0")
      ->type_name("N")
      ->check(wholeNumber<uint64_t>(0));
  group
      .add("--trust", o.trust,
           "Run the plan only if a key in this file (Ed25519, PEM) has signed it; see 'trainc sign'")
      ->type_name("KEYFILE");
  group
      .add("--threads", o.threads,
           "CPU threads of a rank, on which no result depends; default: the CPUs that the process may use, "
           "divided by the ranks of this host")
      ->type_name("N")
      ->check(wholeNumber(1U, 4096U));
}

void addRanks(CLI::App &app, Options &o) {
  Group group(app, "Machine");
  group
      .add("--nproc-per-node", o.processes,
           "Start the plan's N ranks on this machine; without it, mpirun, srun or torchrun start them")
      ->type_name("N")
      ->check(numberOfRanks());
  group
      .add("--comm", o.comm,
           "How ranks communicate: auto is nccl for plans of GPUs, else mpi under mpirun and on several "
           "hosts" +
               listOf(communicatorKinds()))
      ->type_name(fmt::format("{}", fmt::join(namesOf(communicatorKinds()), "|")))
      ->transform(oneOfWords(namesOf(communicatorKinds())))
      ->capture_default_str();
  group
      .add("--comm-timeout", o.commTimeout,
           "Timeout after which a rank that others wait for, and that neither works nor waits, ends the job")
      ->type_name("SECONDS")
      ->check(number(1, 1e6))
      ->capture_default_str();
}

void addOutput(CLI::App &app, Options &o) {
  Group group(app, "Output");
  group
      .add("--metrics", o.metrics, "Write one JSON object a step to this file; with --resume it is continued")
      ->type_name("FILE.jsonl");
  group
      .add("--peak-flops", o.peakFlops,
           "Peak FLOP/s of the machine, for the MFU in progress and metrics; default: what the data sheet of "
           "an A100, H100 or H200 says")
      ->type_name("X")
      ->check(number(1, 1e30));
  group
      .addFlag("--profile{table}", o.profile,
               "Time every instruction and print where the time went, beside what the device can do; slows "
               "small models. --profile=FILE.json also writes that to a file")
      ->type_name("FILE.json");
  group
      .add("--trace", o.trace,
           "Write when each instruction ran, for ui.perfetto.dev; other ranks than 0 write FILE.rank-N.json")
      ->type_name("FILE.json");
  group.add("--trace-steps", o.traceSteps, "With --trace: of how many steps; default: 10")
      ->type_name("N")
      ->check(wholeNumber<uint64_t>(1));
}

void addMessages(CLI::App &app, Options &o) {
  Group group(app, "Output");
  const std::vector<std::string> levels = {"error", "warning", "info", "debug"};
  group.addFlag("-q,--quiet", o.quiet, "Print warnings and errors alone: --log-level=warning");
  group.add("--log-level", o.logLevel, "What goes to standard error, of several ranks from rank 0")
      ->type_name(fmt::format("{}", fmt::join(levels, "|")))
      ->transform(oneOfWords(levels))
      ->capture_default_str();
  group
      .add("--log-level-replica", o.logLevelReplica, "The same for the other ranks, each line with its rank")
      ->type_name(fmt::format("{}", fmt::join(levels, "|")))
      ->transform(oneOfWords(levels))
      ->capture_default_str();
  group.addFlag("--log-on-each-node", o.logOnEachNode,
                "The first rank of each machine says as much as rank 0");
}

/// Advice that the parser's own message lacks.
std::string_view hint(const CLI::ParseError &error, const Options &options) {
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
  case CLI::ExitCodes::ExtrasError: // an optional value, which must follow '='
    if (!options.profile.empty())
      return "; --profile takes its value after '=', as in --profile=FILE.json";
    if (!options.resume.empty())
      return "; --resume takes its value after '=', as in --resume=DIR";
    return options.data.empty() && options.evalData.empty() ? "; data is given with --data" : "";
  case CLI::ExitCodes::RequiredError: // consumed by a list
    return options.data.empty() && options.evalData.empty()
               ? ""
               : "; --data and --eval-data take all that follows them: put the plan first";
  default:
    return "";
  }
}

/// The command line, and the values of its options.
struct CommandLine {
  CommandLine();

  CLI::App app;
  Options options;
};

CommandLine::CommandLine() : app(kDescription, "trainrun") {
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(kExamples + describeExitCodes());
  app.add_option("PLAN", options.plan, "Plan file")->required()->type_name("");
  for (const auto add : {addData, addTraining, addInitialWeights, addCheckpoints, addGeneration, addMachine,
                         addRanks, addOutput, addMessages})
    add(app, options);
  app.set_version_flag("--version", "trainrun " TRAINC_VERSION)->group("Help");
  putHelpLast(app);
}

/// Checks options against each other, and sets those that follow from others.
Status complete(const CLI::App &app, Options &options) {
  if (options.quiet && app.count("--log-level") > 0)
    return invalidInput("--quiet and --log-level contradict each other; leave one out");
  if (options.quiet)
    options.logLevel = "warning";
  if (Status contradiction = checkContradictions(options); !contradiction.ok()) {
    // checked first: without a plan there is no advice to give
    TRAINC_RETURN_IF_ERROR(requirePlanFile(options.plan));
    return contradiction;
  }
  for (const char *option : {"--comm", "--comm-timeout", "--log-level-replica", "--log-on-each-node"})
    if (app.count(option) > 0)
      options.ofRanks.emplace_back(option);
  return {};
}

} // namespace

void visitTrainrunOptions(const std::function<void(const CLI::App &)> &visit) { visit(CommandLine().app); }

bool Options::isDryRun() const {
  const DeviceKind *kind = findDeviceKind(device); // null for "auto", which computes
  return kind && !kind->computes();
}

Result<std::optional<Options>> parseOptions(int argc, const char *const *argv) {
  CommandLine line;
  CLI::App &app = line.app;
  Options &options = line.options;
  const std::span<const char *const> arguments(argv + 1, argc > 0 ? argc - 1 : 0);
  if (const std::optional<std::string> bad = findBadArgument(app, arguments, homeOutsideTrainrun))
    return invalidInput("{}\nRun trainrun --help for the options", *bad);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) { // CLI11 reports by exception; none leaves this function
    if (error.get_exit_code() == 0) {
      TRAINC_RETURN_IF_ERROR(printAnswer(app, error));
      return std::optional<Options>();
    }
    return invalidInput("{}{}\nRun trainrun --help for the options", describeParseError(app, error),
                        hint(error, options));
  }
  TRAINC_RETURN_IF_ERROR(complete(app, options));
  return std::optional(std::move(options));
}

} // namespace trainc
