#include "tools/trainc/Cli.h"

#include "base/exit_codes.h"
#include "base/nearest_word.h"
#include "plan/cost/cluster_file.h"
#include "plan/file/file.h"
#include "tools/common/answer.h"
#include "tools/common/arguments.h"
#include "tools/common/option_homes.h"
#include "tools/common/validators.h"
#include "tools/trainc/SettingsCli.h"
#include "tools/trainc/Topics.h"

#include <algorithm>
#include <filesystem>
#include <fmt/ranges.h>
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

const Choices<SafetensorsDType> kFloatDTypes = {
    {"fp32", SafetensorsDType::kF32}, {"bf16", SafetensorsDType::kBF16}, {"fp16", SafetensorsDType::kF16}};

template <typename Enum> std::vector<std::string> wordsOf(const Choices<Enum> &choices) {
  std::vector<std::string> words;
  for (const auto &[word, value] : choices)
    words.push_back(word);
  return words;
}

/// Converts a word to the number that CLI11 converts to Enum. (CLI11's own transformer also accepts numbers,
/// and shows them in messages.)
template <typename Enum> CLI::Validator oneOf(const Choices<Enum> &choices) {
  return {[choices, known = oneOfWords(wordsOf(choices))](std::string &text) {
            if (std::string error = known(text); !error.empty())
              return error;
            const auto chosen = std::ranges::find(choices, text, &std::pair<std::string, Enum>::first);
            text = std::to_string(static_cast<int>(chosen->second));
            return std::string();
          },
          ""};
}

CLI::Option *addQuiet(CLI::App &command, bool &quiet) {
  return command.add_flag("-q,--quiet", quiet, "Print warnings and errors alone, not what was made");
}

/// Heading in --help of the options that decide what `compile` prints and writes besides the plan.
constexpr const char *kOutput = "Output";

void addCompile(CLI::App &app, CompileCommand &command) {
  CLI::App *compile =
      app.add_subcommand("compile", "Compile a model and its training program to a plan file");
  compile->footer("Examples:\n"
                  "  trainc compile gpt.mlir                            # writes gpt.plan\n"
                  "  trainc compile examples/gpt/small.mlir -o small.plan\n"
                  "  trainc compile gpt.mlir -o gpt.plan --micro-batch=4 --seq-len=256 --report=gpt.json\n"
                  "  trainc compile gpt.mlir --compile-to=step          # print the step's IR\n"
                  "Options win over the model's train.program.");
  CompileOptions &options = command.options;
  compile->add_option("model", command.model, "Model text (.mlir)")->required()->type_name("MODEL.mlir");
  compile
      ->add_option("-o,--output", command.output, "Plan file to write; default: MODEL.plan, beside the model")
      ->type_name("PLAN")
      ->group(kMostUsed);
  addSettings(*compile, options.settings);
  compile
      ->add_option(
          "--compile-to", options.compileTo,
          fmt::format("Stop after this phase and print the IR: {}", fmt::join(wordsOf(kPhases), ", ")))
      ->transform(oneOf(kPhases))
      ->type_name("PHASE")
      ->group(kOutput);
  compile->add_option("--dump-ir", command.dumpDir, "Write numbered snapshots of the IR after every pass")
      ->type_name("DIR")
      ->group(kOutput);
  compile
      ->add_flag("--largest-batch", options.findsLargestBatch,
                 "Also find the largest micro-batch that fits into the memory limit, with each activation\n"
                 "checkpointing; trainc report shows it")
      ->group(kOutput);
  compile->add_option("--report", command.report, "Write sizes, work and memory as JSON")
      ->type_name("FILE.json")
      ->group(kOutput);
  addQuiet(*compile, command.quiet)->group(kOutput);
  putHelpLast(*compile);
}

void addEstimate(CLI::App &app, EstimateCommand &command) {
  CLI::App *estimate = app.add_subcommand(
      "estimate", "Compare what a model takes with each ZeRO stage and activation checkpointing");
  estimate->footer("Makes no plan file. Examples:\n"
                   "  trainc estimate examples/gpt/gpt.mlir --ranks=8 --memory=16GiB\n"
                   "  trainc estimate gpt.mlir --ranks=8 --zero-stage=3          # stage 3 alone\n"
                   "  trainc estimate gpt.mlir --target=cuda --gpu=h100-sxm --precision=bf16 --json\n"
                   "Settings that an option or the model's train.program gives are not varied.");
  estimate->add_option("model", command.model, "Model text (.mlir)")->required()->type_name("MODEL.mlir");
  estimate
      ->add_option("--memory", command.memory,
                   "Memory of a rank, e.g. 80GiB: marks the strategies that fit, and the fastest of them;\n"
                   "default: the memory limit")
      ->transform(someBytes())
      ->type_name("SIZE")
      ->group(kMostUsed);
  estimate->add_flag("--json", command.json, "Print JSON, which has all columns, instead of a table")
      ->group(kMostUsed);
  addSettings(*estimate, command.options.settings);
  putHelpLast(*estimate);
}

void addImport(CLI::App &app, ImportCommand &command) {
  CLI::App *importing = app.add_subcommand(
      "import", "Write the model text of a Hugging Face model, or the folder of a GGUF file");
  importing->footer(
      "Examples:\n"
      "  trainc import Qwen3-0.6B -o qwen3.mlir\n"
      "  trainc import Qwen3-0.6B/config.json --dry-run     # prints how each key is used\n"
      "  trainc import SmolLM2-135M.gguf -o smol            # a folder: text, weights, tokenizer\n"
      "  trainc import bert-base-uncased --task=classification --labels=5 --no-dropout\n"
      "Then `trainc compile qwen3.mlir`, and `trainrun qwen3.plan --init=Qwen3-0.6B`.");
  importing
      ->add_option("model", command.model, "A folder with a config.json, this file itself, or a GGUF file")
      ->required()
      ->type_name("FOLDER|FILE");
  importing
      ->add_option("-o,--output", command.output,
                   "Model file to write, or the folder to write for a GGUF file; default: the folder's name\n"
                   "with .mlir, or the GGUF file's name without .gguf")
      ->type_name("MODEL.mlir");
  importing
      ->add_option("--task", command.task,
                   "Head to put on the model; default: the head of the weights' class")
      ->type_name("causal-lm|masked-lm|classification|token-classification");
  importing->add_option("--labels", command.labels, "Classes of the head; default: those of the config")
      ->type_name("N");
  importing->add_flag("--token-types", command.tokenTypes,
                      "Take the types of tokens from a column token_types, as for pairs of texts; else all "
                      "are 0");
  importing->add_flag("--packed", command.packed,
                      "Let rows hold several texts, which the columns segments and positions tell apart, as "
                      "trainc-data writes them");
  importing->add_flag("--no-dropout", command.noDropout, "Leave out all dropout that the config has");
  importing->add_flag("--dry-run", command.dryRun, "Write nothing; print how each key of the config is used");
  addQuiet(*importing, command.quiet);
}

void addTokenize(CLI::App &app, TokenizeCommand &command) {
  CLI::App *tokenize = app.add_subcommand("tokenize", "Turn text files into a token file");
  tokenize->footer("Examples:\n"
                   "  trainc tokenize --tokenizer=bytes book.txt -o tokens.bin\n"
                   "  trainc tokenize --tokenizer=gpt2/tokenizer.json 'texts/*.txt' -o tokens.bin");
  tokenize
      ->add_option("--tokenizer", command.tokenizer,
                   "bytes, a tokenizer.json, a folder with one, with vocab.json and merges.txt, or with "
                   "vocab.txt, or a\n"
                   ".gguf file")
      ->capture_default_str()
      ->type_name("bytes|FILE");
  tokenize->add_option("--end-token", command.endToken,
                       "Special token to write after each text, e.g. '<|endoftext|>'");
  tokenize->add_flag("--any-text", command.anyText,
                     "Take JSON, HTML, XML and tables (CSV, TSV) as plain text, too");
  tokenize->add_option("texts", command.texts, "Text files or patterns, in UTF-8")
      ->required()
      ->type_name("TEXT...");
  tokenize->add_option("-o,--output", command.output, "Token file to write")->required()->type_name("FILE");
  addQuiet(*tokenize, command.quiet);
}

void addConsolidate(CLI::App &app, ConsolidateCommand &command) {
  CLI::App *consolidate =
      app.add_subcommand("consolidate", "Write a model's weights to one file that Hugging Face loads");
  consolidate->footer("Examples:\n"
                      "  trainc consolidate run1 -o model.safetensors       # of the latest checkpoint\n"
                      "  trainc consolidate run1/step-00000100 --dtype=bf16 -o export/model.safetensors\n"
                      "  trainc consolidate model.gguf -o model.safetensors");
  consolidate
      ->add_option(
          "checkpoint", command.checkpoint,
          "A checkpoint, a folder of checkpoints (the latest is taken), a safetensors or GGUF file, or\n"
          "a folder with model.safetensors or model.safetensors.index.json")
      ->required()
      ->type_name("CHECKPOINT");
  consolidate->add_option("-o,--output", command.output, "Safetensors file to write")
      ->required()
      ->type_name("FILE.safetensors");
  consolidate
      ->add_option("--dtype", command.dtype,
                   "Type of the floats in the file. Rounds to nearest even; fails if a number is too large")
      ->transform(oneOf(kFloatDTypes))
      ->default_str("fp32")
      ->type_name("fp32|bf16|fp16");
  addQuiet(*consolidate, command.quiet);
}

void addPlan(CLI::App &command, std::string &plan) {
  command.add_option("plan", plan, "Plan file")->required()->type_name("PLAN");
}

void addSign(CLI::App &app, SignCommand &command) {
  CLI::App *sign =
      app.add_subcommand("sign", "Sign a plan for machines that run only signed plans (trainrun --trust)");
  sign->footer("Writes PLAN.sig. Examples:\n"
               "  openssl genpkey -algorithm ed25519 -out key.pem         # once; keep it secret\n"
               "  openssl pkey -in key.pem -pubout -out keys.pem          # for machines that run plans\n"
               "  trainc sign gpt.plan --key=key.pem\n"
               "  trainrun gpt.plan --trust=keys.pem --data tokens.bin");
  addPlan(*sign, command.plan);
  sign->add_option("--key", command.key, "Private key (Ed25519, PEM)")->required()->type_name("FILE.pem");
  addQuiet(*sign, command.quiet);
}

void addDump(CLI::App &app, DumpCommand &command) {
  CLI::App *dump = app.add_subcommand("dump", "Print a plan, or a file of weights, as text");
  dump->footer("Of weights, prints the metadata, and the name, type and shape of each tensor. Examples:\n"
               "  trainc dump small.plan\n"
               "  trainc dump model.gguf");
  dump->add_option("file", command.plan, "Plan, GGUF or safetensors file")->required()->type_name("FILE");
  CLI::Option *settings = dump->add_flag(
      "--settings", command.settings,
      "Print the settings that the plan was compiled with, and where each comes from, instead");
  dump->add_flag("--code", command.code, "Print the code of a GPU's kernels (PTX) instead")
      ->excludes(settings);
}

void addExport(CLI::App &app, ExportCommand &command) {
  CLI::App *exporting = app.add_subcommand(
      "export", "Write a checkpoint as the Hugging Face folder that the run began with, or as a GGUF file");
  exporting->footer(
      "Examples:\n"
      "  trainc export run1 --like=Qwen3-0.6B -o tuned      # of the latest checkpoint\n"
      "  trainc export run1 --like=Qwen3-0.6B -o tuned.gguf # for llama.cpp\n"
      "  trainc export run1 --like=base.gguf --type=q8_0 -o tuned.gguf\n"
      "  trainc export lora --like=Qwen3-0.6B -o adapter    # of a run with --lora, for PEFT\n"
      "  trainc export lora --like=Qwen3-0.6B --merge -o tuned\n"
      "The output has the weights' names, types and files of --like, and its tokenizer and configuration.");
  exporting
      ->add_option(
          "checkpoint", command.checkpoint,
          "A checkpoint, a folder of checkpoints (the latest is taken), or weights that --init takes")
      ->required()
      ->type_name("CHECKPOINT");
  exporting
      ->add_option("--like", command.like,
                   "Folder of the model whose weights the run began with; for a GGUF file also its GGUF file")
      ->required()
      ->type_name("FOLDER|FILE.gguf");
  exporting
      ->add_option("-o,--output", command.output,
                   "Folder to write, which must not exist, or a file FILE.gguf")
      ->required()
      ->type_name("FOLDER|FILE.gguf");
  exporting
      ->add_option("--type", command.type,
                   "Type of the matrices in a GGUF file; default: that of most weights of --like, else f16")
      ->transform(oneOfWords({"f32", "f16", "bf16", "q8_0"}))
      ->type_name("f32|f16|bf16|q8_0");
  exporting->add_flag(
      "--merge", command.merge,
      "Of a run with --lora: merge the adapter into the weights, and write all of them; without "
      "it, write the adapter alone, as PEFT does");
  addQuiet(*exporting, command.quiet);
}

void addReport(CLI::App &app, ReportCommand &command) {
  CLI::App *report = app.add_subcommand("report", "Show where a plan's memory and time go");
  report->footer("Examples:\n"
                 "  trainc report gpt.plan                   # a summary\n"
                 "  trainc report gpt.plan -o gpt.html       # a self-contained HTML page\n"
                 "  trainc report before.plan after.plan     # what changed");
  addPlan(*report, command.plan);
  report->add_option("other", command.other, "Another plan file: print what changed from the first to it")
      ->type_name("OTHER");
  CLI::Option *output = report
                            ->add_option("-o,--output", command.output,
                                         "Page to write, which needs no other file and no network")
                            ->type_name("PAGE.html");
  report->add_flag("--json", command.json, "Print the same as JSON")->excludes(output);
  addQuiet(*report, command.quiet)->needs(output);
}

void addSimulate(CLI::App &app, SimulateCommand &command) {
  CLI::App *simulate =
      app.add_subcommand("simulate", "Predict a plan's training step on a cluster that you do not have");
  simulate->footer(fmt::format(
      "Examples:\n"
      "  trainc simulate gpt.plan --cluster=8xh100\n"
      "  trainc simulate gpt.plan --cluster=mine.json --json\n"
      "Prints the step's seconds, MFU, what communication is exposed, how busy each stream is, and the\n"
      "costliest instructions. Built-in clusters: {}.\n"
      "They are the files of examples/clusters; copy one to begin. A file of the same name takes\n"
      "precedence.",
      fmt::join(builtInClusterNames(), ", ")));
  addPlan(*simulate, command.plan);
  simulate
      ->add_option("--cluster", command.cluster,
                   "Rates of devices, links and disks: a file, or the name of one that is built in")
      ->required()
      ->type_name("FILE.json|NAME");
  simulate->add_flag("--json", command.json, "Print all of it as JSON");
  simulate->add_option("--rows", command.rows, "How many of the costliest instructions to print")
      ->check(wholeNumber<uint32_t>(0))
      ->capture_default_str()
      ->type_name("N");
}

void addCalibrate(CLI::App &app, CalibrateCommand &command) {
  CLI::App *calibrate =
      app.add_subcommand("calibrate", "Measure this machine into a cluster file for trainc simulate");
  calibrate->footer(
      "Takes 15 seconds on an idle machine and minutes on a busy one. Nothing else should run. Example:\n"
      "  trainc calibrate -o this.json\n"
      "  trainc simulate small.plan --cluster=this.json");
  calibrate->add_option("-o,--output", command.output, "Cluster file to write")
      ->required()
      ->type_name("FILE.json");
  addSetting(*calibrate, train::kCpu, command.cpu, "Code level to measure");
  addQuiet(*calibrate, command.quiet);
}

/// Chooses the plan's path if the command line gives none, and finds options that contradict each other.
void resolveOutput(CompileCommand &command) {
  const bool isOpen = command.output.empty() && !command.options.compileTo;
  if (isOpen && requirePlanFile(command.model).ok())
    throw CLI::ValidationError(
        "compile",
        fmt::format("{0} is a plan, compiled already; `trainrun {0}` runs it, `trainc dump {0}` prints it",
                    command.model));
  if (isOpen && command.model == "-")
    throw CLI::ValidationError("compile",
                               "standard input has no name that the plan could have: name the plan to write "
                               "with -o PLAN, or a phase to print with --compile-to=PHASE");
  if (isOpen)
    command.output = std::filesystem::path(command.model).replace_extension(".plan").string();
  if (!command.output.empty() && command.options.compileTo)
    throw CLI::ValidationError(
        "compile",
        "-o PLAN and --compile-to=PHASE contradict each other: the IR is printed, no plan is made");
  if (!command.report.empty() && command.options.compileTo)
    throw CLI::ValidationError("compile", "--report and --compile-to=PHASE contradict each other: no plan is "
                                          "made, so there is nothing to report");
}

/// The subcommand named by the first argument, or null.
const CLI::App *findCommand(const CLI::App &app, std::span<const char *const> arguments) {
  const auto found = app.get_subcommands(
      [&](const CLI::App *each) { return !arguments.empty() && each->get_name() == arguments.front(); });
  return found.empty() ? nullptr : found.front();
}

void addHelp(CLI::App &app, std::string &topic) {
  std::string topics = "Topics besides the subcommands:\n";
  for (const Topic &each : helpTopics())
    topics += fmt::format("  {:<12} {}\n", each.name, each.summary);
  CLI::App *help = app.add_subcommand("help", "Explain a subcommand or a topic, such as memory");
  help->footer(topics);
  help->add_option("topic", topic, "A subcommand or a topic")->type_name("TOPIC");
}

/// Prints a usage error of the program or of a subcommand; returns the exit code.
int reportUsage(const CLI::App *command, std::string_view message) {
  putMessage(stderr, fmt::format("error: {}\nRun {} --help for the options\n", message,
                                 command ? "trainc " + command->get_name() : "trainc"));
  return kExitUsage;
}

/// Prints the requested help or version; returns the exit code.
int answer(const CLI::App &app, const CLI::ParseError &question) {
  const Status status = printAnswer(app, question);
  if (!status.ok())
    putMessage(stderr, fmt::format("error: {}\n", status.message()));
  return status.exitCode();
}

/// Returns advice for a word that is not a command of trainc, such as `generate`: the command that does this
/// work, as a clause. Empty if none is known.
std::string commandInstead(std::string_view word) {
  constexpr std::pair<std::string_view, std::string_view> kInstead[] = {
      {"convert", "trainc consolidate CHECKPOINT -o model.safetensors"},
      {"eval", "trainrun PLAN --init=FILE --eval-data=FILE"},
      {"evaluate", "trainrun PLAN --init=FILE --eval-data=FILE"},
      {"generate", "trainrun PLAN --resume=DIR --generate=PROMPT"},
      {"run", "trainrun PLAN --data=FILE"},
      {"train", "trainrun PLAN --data=FILE"},
  };
  const auto *found =
      std::ranges::find(kInstead, word, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(kInstead) ? "" : fmt::format("; write `{}`", found->second);
}

/// The first error in the arguments that CLI11 would miss or describe worse.
std::optional<std::string> findProblem(const CLI::App &app, std::span<const char *const> arguments) {
  if (const CLI::App *command = findCommand(app, arguments)) {
    const bool hasSettings = command->get_name() == "compile" || command->get_name() == "estimate";
    return findBadArgument(*command, arguments.subspan(1), hasSettings ? homeOutsideCompile : FindHome());
  }
  const std::string_view word = arguments.front();
  if (!word.starts_with('-')) {
    std::vector<std::string> commands;
    for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
      commands.push_back(command->get_name());
    const std::string instead = commandInstead(word);
    return instead.empty() ? describeUnknownWord(word, commands)
                           : fmt::format("'{}' is not a command of trainc{}", word, instead);
  }
  for (const char *const argument : arguments)
    if (const CLI::App *command = findCommand(app, std::span(&argument, 1)))
      if (command->get_option_no_throw(std::string(word.substr(0, word.find('=')))))
        return fmt::format("{0} is an option of {1}: write it after `trainc {1}`", word, command->get_name());
  return findBadArgument(app, arguments);
}

/// Prints what `trainc help TOPIC` asks for; returns the exit code.
int explain(const CLI::App &app, const std::string &topic) {
  const auto print = [](std::string_view text) {
    const Status status = printOutput(text);
    if (!status.ok())
      putMessage(stderr, fmt::format("error: {}\n", status.message()));
    return status.exitCode();
  };
  if (topic.empty())
    return print( // app.help() would be the help of the subcommand that was parsed
        app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal) + "\n" +
        app.get_subcommand("help")->get_footer());
  const char *const name = topic.c_str();
  if (const CLI::App *command = findCommand(app, std::span(&name, 1)))
    return print(command->help(app.get_name()));
  std::vector<std::string> known;
  for (const Topic &each : helpTopics()) {
    if (each.name == topic)
      return print(explanationOf(each));
    known.emplace_back(each.name);
  }
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    known.push_back(command->get_name());
  return reportUsage(app.get_subcommand("help"), describeUnknownWord(topic, known));
}

/// The command line, and the arguments of every subcommand.
struct CommandLine {
  CommandLine()
      : app("trainc: compiles a model and its training step to a plan that trainrun executes", "trainc") {
    app.formatter(std::make_shared<HelpFormatter>()); // also that of subcommands, which are added below
    app.set_version_flag("--version", std::string("trainc ") + TRAINC_VERSION);
    app.require_subcommand(1);
    addCompile(app, compile);
    addEstimate(app, estimate);
    addImport(app, importing);
    addTokenize(app, tokenize);
    addConsolidate(app, consolidate);
    addExport(app, exporting);
    addReport(app, report);
    addSign(app, sign);
    addDump(app, dump);
    addSimulate(app, simulate);
    addCalibrate(app, calibrate);
    addHelp(app, topic);
  }

  CLI::App app;
  CompileCommand compile;
  EstimateCommand estimate;
  ImportCommand importing;
  TokenizeCommand tokenize;
  ConsolidateCommand consolidate;
  DumpCommand dump;
  ExportCommand exporting;
  ReportCommand report;
  SimulateCommand simulate;
  CalibrateCommand calibrate;
  SignCommand sign;
  std::string topic;
};

/// Returns the parsed command. Carries out `help` at once, and returns its exit code.
std::variant<Command, int> commandOf(CommandLine &line) {
  const auto isGiven = [&](const char *name) { return line.app.got_subcommand(name); };
  if (isGiven("help"))
    return explain(line.app, line.topic);
  if (isGiven("compile")) {
    resolveOutput(line.compile);
    return Command(line.compile);
  }
  if (isGiven("estimate"))
    return Command(line.estimate);
  if (isGiven("import"))
    return Command(line.importing);
  if (isGiven("tokenize"))
    return Command(line.tokenize);
  if (isGiven("consolidate"))
    return Command(line.consolidate);
  if (isGiven("export"))
    return Command(line.exporting);
  if (isGiven("report"))
    return Command(line.report);
  if (isGiven("sign"))
    return Command(line.sign);
  if (isGiven("simulate"))
    return Command(line.simulate);
  if (isGiven("calibrate"))
    return Command(line.calibrate);
  return Command(line.dump);
}

} // namespace

void visitTraincOptions(const std::function<void(const CLI::App &)> &visit) { visit(CommandLine().app); }

std::variant<Command, int> parseCommandLine(int argc, char **argv) {
  CommandLine line;
  CLI::App &app = line.app;
  const std::span<const char *const> arguments(argv + 1, argc > 0 ? argc - 1 : 0);
  if (arguments.empty()) {
    explain(app, "");
    return kExitUsage;
  }
  if (const std::optional<std::string> problem = findProblem(app, arguments))
    return reportUsage(findCommand(app, arguments), *problem);
  try {
    app.parse(argc, argv);
    return commandOf(line);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return answer(app, error);
    const CLI::App *command = findCommand(app, arguments);
    return reportUsage(command, describeParseError(command ? *command : app, error));
  }
}

} // namespace trainc
