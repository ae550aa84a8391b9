#include "runtime/training/starting_point.h"

#include "base/hash.h"
#include "base/plain_text.h"
#include "plan/facts/target.h"
#include "plan/facts/view.h"
#include "plan/schema/entry_names.h"
#include "runtime/data/formats/foreign_file.h"
#include "runtime/formats/adapter_names.h"
#include "runtime/formats/gguf_config.h"
#include "runtime/state/adapter_config.h"
#include "runtime/state/checkpoint_folder.h"
#include "runtime/state/checkpoint_reader.h"
#include "runtime/state/checkpoint_writer.h"
#include "runtime/state/initial_weights.h"
#include "runtime/state/model_config.h"
#include "runtime/state/weight_source.h"
#include "runtime/training/generate.h"
#include "runtime/training/run_data.h"
#include "runtime/training/state_tensors.h"
#include "runtime/training/tokenizer_choice.h"
#include "runtime/training/trained_with.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <map>
#include <ranges>
#include <vector>

namespace trainc {

namespace {

/// Warns once per folder.
void warnOfLookalikes(const RunOptions &options, const Observers &observers) {
  std::vector<std::string> folders = {options.checkpointDir};
  if (std::error_code error; options.resume != "auto" && options.resume != "latest" &&
                             !std::filesystem::equivalent(options.resume, options.checkpointDir, error))
    folders.push_back(options.resume);
  for (const std::string &folder : folders)
    if (const std::string found = describeLookalikes(folder); !found.empty())
      observers.tell(&RunObserver::onWarning, found);
}

/// The checkpoint to continue from; empty for a new run.
Result<std::filesystem::path> findCheckpoint(const RunOptions &options) {
  if (options.resume.empty())
    return std::filesystem::path();
  if (options.resume == "auto" && listCheckpoints(options.checkpointDir).empty())
    return std::filesystem::path();
  return resolveCheckpoint(options.resume == "auto" ? "latest" : options.resume, options.checkpointDir);
}

/// A resumed run must continue in its original order, unless changes are allowed.
Status checkOrder(const RunOptions &options, const Checkpoint &checkpoint) {
  if (options.allowChanges)
    return {};
  if (options.noShuffle && checkpoint.state().shuffle)
    return invalidInput(
        "--no-shuffle contradicts --resume: {} was trained on shuffled samples; leave it out, {}",
        checkpoint.path().string(), kHowToAllow);
  if (!options.seed || !options.trains() || *options.seed == checkpoint.state().seed)
    return {};
  return invalidInput(
      "--seed={} contradicts --resume: {} was trained with seed {}, which the order of the samples "
      "depends on; leave --seed out, {}",
      *options.seed, checkpoint.path().string(), checkpoint.state().seed, kHowToAllow);
}

/// Keys in the environment of a position. The default target is not recorded.
constexpr const char *kPrecision = "precision", *kArithmetic = "arithmetic", *kTarget = "target";

using Environment = std::map<std::string, std::string>;

/// The text under `key`; empty if there is none.
std::string recordedText(const Environment &environment, const char *key) {
  const auto found = environment.find(key);
  return found == environment.end() ? "" : found->second;
}

void recordText(const char *key, const std::string &text, Environment &environment) {
  environment.erase(key);
  if (!text.empty())
    environment[key] = text;
}

bool trainsInBf16(const Environment &environment) { return recordedText(environment, kPrecision) == "bf16"; }

/// Records the properties that bits depend on; `training` is from trainingOf(). In other precisions a plan
/// trains identically on all CPUs that run it (TargetTraits::trainsAlike).
void recordArithmetic(const Executor &executor, const Environment &training, Environment &environment) {
  const TargetTraits &target = targetOf(executor.plan());
  recordText(kPrecision, recordedText(training, kPrecision), environment);
  recordText(kTarget, &target == &kDefaultTarget ? "" : std::string(target.name), environment);
  recordText(kArithmetic,
             trainsInBf16(environment) || !target.trainsAlike ? executor.device().arithmetic() : "",
             environment);
}

/// "with " and the comma-separated items of `list` that `other` lacks.
std::string withPartsLackedBy(std::string_view other, std::string_view list) {
  std::vector<std::string_view> lacked;
  const auto partsOf = [](std::string_view text) { return std::views::split(text, std::string_view(", ")); };
  for (const auto part : partsOf(list))
    if (std::ranges::none_of(partsOf(other), [&](auto each) { return std::ranges::equal(each, part); }))
      lacked.emplace_back(part.begin(), part.end());
  return lacked.empty() ? "without that" : printable(fmt::format("with {}", fmt::join(lacked, ", ")));
}

/// "on a CPU"
std::string processorText(const Environment &environment) {
  const std::string name = recordedText(environment, kTarget);
  const TargetTraits *target = name.empty() ? &kDefaultTarget : findTarget(name);
  return fmt::format("on a {}", target ? std::string(target->processor()) : printable(name));
}

/// Describes a change of GPU, libraries or their calls, or between CPU and GPU.
std::string otherMachineText(const Environment &before, const Environment &now) {
  std::string from = processorText(before), to = processorText(now);
  if (from == to) {
    const std::string was = recordedText(before, kArithmetic), is = recordedText(now, kArithmetic);
    from = withPartsLackedBy(is, was);
    to = withPartsLackedBy(was, is);
  }
  const bool isOfShapes = from.starts_with("with algorithms ") || from.starts_with("with engines ");
  return fmt::format(
      "it was computed {}, and now is {}: bits are not those of an uninterrupted run{}", from, to,
      isOfShapes ? "; libraries choose these by shapes, so that another micro-batch, number of "
                   "ranks or option of the compiler brings others"
                 : "");
}

/// Describes why the same plan continues with other bits on this machine; empty if it does not.
std::string describeOtherArithmetic(const Executor &executor, const Environment &training,
                                    const Environment &recorded) {
  Environment current;
  recordArithmetic(executor, training, current);
  const std::string before = recordedText(recorded, kArithmetic), now = recordedText(current, kArithmetic);
  const bool recordsTarget =
      !recordedText(recorded, kTarget).empty() || !recordedText(current, kTarget).empty();
  if (recordsTarget && (before != now || recordedText(recorded, kTarget) != recordedText(current, kTarget)))
    return otherMachineText(recorded, current);
  if (recordsTarget || before == now || !trainsInBf16(recorded) || !trainsInBf16(current))
    return "";
  auto with = [](const std::string &arithmetic) {
    return arithmetic.empty() ? "without instructions of their own" : "with " + printable(arithmetic);
  };
  return fmt::format(
      "products of bf16 numbers were computed {}, and now are {}: bits are not those of an "
      "uninterrupted run; a plan compiled with --cpu=x86-64-v3,x86-64-v4 has the same on all CPUs",
      with(before), with(now));
}

/// A file that the plan writes beside its checkpoints; empty if there is none.
std::string_view exported(const Executor &executor, std::string_view name) {
  if (executor.plan().exports())
    for (const fb::Export *file : *executor.plan().exports())
      if (view(file->file()) == name)
        return view(file->text());
  return {};
}

std::string_view ownConfig(const Executor &executor) { return exported(executor, kConfigFile); }

Status tellRemarks(const Result<ConfigRemarks> &remarks, const Observers &observers) {
  if (!remarks.ok())
    return remarks.status();
  if (!remarks->note.empty())
    observers.tell(&RunObserver::onNote, remarks->note);
  if (!remarks->warning.empty())
    observers.warnOnRank0(remarks->warning);
  return {};
}

std::vector<std::string> parameterNames(const Executor &executor) {
  std::vector<std::string> names;
  for (const StateView &state : executor.states())
    if (state.info->role() == fb::Role::Parameter)
      names.push_back(state.info->name()->str());
  return names;
}

/// The same weights in another model, such as one with other heads, would be taken without a word.
Status checkConfig(const Executor &executor, const std::filesystem::path &folder, const RunOptions &options,
                   const Observers &observers) {
  if (options.noConfigCheck)
    return {};
  TRAINC_RETURN_IF_ERROR(compareAdapterConfigs(exported(executor, kAdapterConfigFile), folder));
  TRAINC_RETURN_IF_ERROR(checkTiedEmbedding(ownConfig(executor), parameterNames(executor), folder));
  return tellRemarks(compareConfigs(ownConfig(executor), folder), observers);
}

/// A GGUF file has its model's configuration in itself.
Status checkConfig(const Executor &executor, const WeightFiles &weights, const RunOptions &options,
                   const Observers &observers) {
  if (!weights.gguf())
    return checkConfig(executor, std::filesystem::path(weights.path()).parent_path(), options, observers);
  if (options.noConfigCheck)
    return {};
  TRAINC_ASSIGN_OR_RETURN(const auto metadata, configJsonOf(*weights.gguf()));
  return metadata ? tellRemarks(compareGgufConfig(ownConfig(executor), weights.path(), *metadata), observers)
                  : Status();
}

/// Warns if `text`, which describes a difference between the plan and what `path` records, is not empty.
void warnOfDifference(const std::filesystem::path &path, const std::string &text,
                      const Observers &observers) {
  if (!text.empty())
    observers.warnOnRank0(fmt::format("{}: {}", path.string(), text));
}

Result<StartingPoint> resume(Executor &executor, const Environment &training,
                             const std::filesystem::path &path, unsigned threads, const RunOptions &options,
                             const Observers &observers) {
  TRAINC_ASSIGN_OR_RETURN(const Checkpoint checkpoint, Checkpoint::open(path));
  TRAINC_RETURN_IF_ERROR(checkOrder(options, checkpoint));
  TRAINC_RETURN_IF_ERROR(checkConfig(executor, path, options, observers));
  if (options.trains() && !options.allowChanges)
    if (const Status status = checkLength(training, checkpoint.state().environment); !status.ok())
      return invalidInput("{}: {}, {}", path.string(), status.message(), kHowToAllow);
  TRAINC_RETURN_IF_ERROR(checkpoint.loadParameters(stateTensors(executor, fb::Role::Parameter), threads));
  const Environment &recorded = checkpoint.state().environment;
  warnOfDifference(path, describeOtherModel(training, recorded), observers);
  if (options.trains()) {
    TRAINC_RETURN_IF_ERROR(checkpoint.loadOptimizer(stateTensors(executor, fb::Role::Optimizer), threads));
    warnOfDifference(path, describeOtherTraining(training, recorded), observers);
    warnOfDifference(path, describeOtherArithmetic(executor, training, recorded), observers);
  }
  observers.tell(&RunObserver::onNote, fmt::format("resumed from {}", path.string()));
  const std::string state = checkpoint.state().toJson();
  StartingPoint start{checkpoint.state(), path,
                      fmt::format("a checkpoint of step {} (checksum {:016x})", checkpoint.state().step,
                                  xxh3(std::as_bytes(std::span(state))))};
  start.tokenizer = recordedTokenizer(start.position.environment);
  start.position.files.clear();
  if (options.allowChanges && options.trains()) {
    start.position.seed = options.seed.value_or(start.position.seed);
    start.position.shuffle = start.position.shuffle && !options.noShuffle;
  }
  return start;
}

/// Weights of --init. Those in a checkpoint's folder are verified by its checksums. A folder of checkpoints
/// without weights of its own stands for its latest checkpoint.
Result<WeightSource> openInitialWeights(const std::filesystem::path &init) {
  std::error_code error;
  if (std::filesystem::status(init, error).type() == std::filesystem::file_type::not_found)
    return invalidInput("--init={}: there is no such file or folder; name one of this machine, as nothing is "
                        "downloaded",
                        init.string());
  if (std::filesystem::exists(init / kTrainerStateFile, error))
    return openCheckpointWeights(init);
  if (!listCheckpoints(init).empty()) {
    TRAINC_ASSIGN_OR_RETURN(const bool hasOwn, holdsWeights(init));
    if (!hasOwn)
      return openFound([&] { return resolveCheckpoint(init.string(), {}); }, openCheckpointWeights);
  }
  Result<WeightFiles> weights = WeightFiles::open(init);
  if (weights.ok())
    return WeightSource{init, std::move(*weights), {}, {}};
  return explainUnreadWeights(init, weights.status());
}

/// Whether a folder was written as a checkpoint and lacks the file that completes one.
bool isIncompleteCheckpoint(const std::filesystem::path &folder) {
  std::error_code error;
  return std::filesystem::exists(folder / kOptimizerFile, error) &&
         !std::filesystem::exists(folder / kTrainerStateFile, error);
}

Result<std::vector<NameRule>> readNameRules(const std::vector<std::string> &texts) {
  std::vector<NameRule> rules;
  for (const std::string &text : texts) {
    const std::optional<NameRule> rule = parseNameRule(text);
    if (!rule)
      return invalidInput("--rename={}: expected PATTERN=REPLACEMENT with as many * on both sides, such as "
                          "'backbone.*=model.*'",
                          text);
    rules.push_back(*rule);
  }
  return rules;
}

/// Tells of the names in one line, which ends early if they are many.
void noteNames(std::string_view what, std::vector<std::string> names, const Observers &observers) {
  constexpr size_t kShown = 20;
  if (names.empty())
    return;
  const size_t more = names.size() - std::min(names.size(), kShown);
  names.resize(names.size() - more);
  observers.tell(&RunObserver::onNote, fmt::format("{}: {}{}", what, fmt::join(names, ", "),
                                                   more ? fmt::format(" and {} more", more) : ""));
}

/// Warns of parameters of a plan with adapters that were drawn anew and keep these numbers, such as the head
/// of a classifier. Optimizer states tell of parameters that a group trains.
void warnOfFrozenDraws(const Executor &executor, const std::vector<std::string> &drawn,
                       const Observers &observers) {
  if (exported(executor, kAdapterConfigFile).empty())
    return;
  Result<AdapterConfig> config = parseAdapterConfig("the plan", exported(executor, kAdapterConfigFile));
  if (!config.ok())
    return;
  std::vector<std::string> layers, frozen;
  for (const std::string &name : drawn) {
    const std::string layer = name.substr(0, name.rfind('.'));
    const bool isTrained = std::ranges::any_of(executor.states(), [&](const StateView &state) {
      return state.info->role() == fb::Role::Optimizer && view(state.info->name()).ends_with("." + name);
    });
    if (isTrained || isAdapterName(name) || std::ranges::find(config->saved, layer) != config->saved.end())
      continue;
    frozen.push_back(name);
    if (std::ranges::find(layers, layer) == layers.end())
      layers.push_back(layer);
  }
  if (!frozen.empty())
    observers.warnOnRank0(fmt::format("{} was drawn anew, and the adapters leave it as it is; to train it, "
                                      "compile with --lora-modules-to-save={}",
                                      fmt::join(frozen, ", "), fmt::join(layers, ",")));
}

/// Loads the plan's initialisers, and replaces them by a checkpoint or --init. `training` is from
/// trainingOf().
Result<StartingPoint> loadWeights(Executor &executor, const Environment &training, unsigned threads,
                                  const RunOptions &options, const Observers &observers) {
  if (executor.rank() == 0)
    warnOfLookalikes(options, observers);
  TRAINC_ASSIGN_OR_RETURN(const std::filesystem::path checkpoint, findCheckpoint(options));
  // Always run, because it also fills tables and optimizer states that neither file replaces.
  if (executor.hasEntry(kInitEntry)) {
    executor.scalars().set("seed", options.seed.value_or(0));
    TRAINC_RETURN_IF_ERROR(executor.run(kInitEntry));
  }
  if (!checkpoint.empty())
    return openFound([&] { return findCheckpoint(options); },
                     [&](const std::filesystem::path &path) {
                       return resume(executor, training, path, threads, options, observers);
                     });
  StartingPoint start;
  start.weights = "the plan's initialisers";
  if (!options.init.empty()) {
    std::vector<WeightSource> sources;
    for (const std::string &init : options.init) {
      TRAINC_ASSIGN_OR_RETURN(WeightSource opened, openInitialWeights(init));
      if (isIncompleteCheckpoint(init))
        observers.warnOnRank0(
            fmt::format("--init={}: the checkpoint is incomplete, it has no {}: its weights cannot be "
                        "checked, and may be damaged",
                        init, kTrainerStateFile));
      TRAINC_RETURN_IF_ERROR(checkConfig(executor, opened.weights, options, observers));
      warnOfDifference(init, describeOtherModel(training, opened.environment), observers);
      sources.push_back(std::move(opened));
    }
    TRAINC_ASSIGN_OR_RETURN(const std::vector<NameRule> rules, readNameRules(options.rename));
    TRAINC_ASSIGN_OR_RETURN(const WeightSource source, joinSources(std::move(sources), rules));
    const WeightFiles &weights = source.weights;
    TRAINC_ASSIGN_OR_RETURN(
        const UnpairedWeights unpaired,
        loadInitialWeights(weights, stateTensors(executor, fb::Role::Parameter), threads, source.recorded,
                           {.missing = options.initMissing, .ignored = options.initIgnore}));
    observers.tell(&RunObserver::onNote, fmt::format("initial weights from {}", weights.path()));
    if (unpaired.newAdapters > 0)
      observers.tell(&RunObserver::onNote, "the adapter is a new one, as no file has one");
    noteNames("drawn anew", unpaired.drawn, observers);
    if (options.trains())
      warnOfFrozenDraws(executor, unpaired.drawn, observers);
    noteNames("left out of the file", unpaired.ignored, observers);
    noteNames("not needed from the file", unpaired.buffers, observers);
    start.tokenizer = recordedTokenizer(source.environment);
    start.weights = fmt::format("--init (checksum {:016x})", weights.fingerprint());
  }
  start.position.shuffle = !options.noShuffle;
  start.position.seed = options.seed.value_or(0);
  return start;
}

} // namespace

Result<StartingPoint> prepareWeights(Executor &executor, unsigned threads, const RunOptions &options,
                                     const Observers &observers) {
  const Environment training = trainingOf(executor.plan());
  TRAINC_ASSIGN_OR_RETURN(StartingPoint start, loadWeights(executor, training, threads, options, observers));
  if (executor.hasEntry(kRefreshEntry))
    TRAINC_RETURN_IF_ERROR(executor.run(kRefreshEntry));
  recordArithmetic(executor, training, start.position.environment);
  for (const auto &[name, value] : training)
    start.position.environment.insert_or_assign(name, value);
  return start;
}

namespace {

std::string given(bool isGiven) { return isGiven ? "given" : "nothing"; }

template <typename T> NamedValue given(const char *option, const std::optional<T> &value) {
  return {option, value ? fmt::format("{}", *value) : given(false)};
}

} // namespace

Status checkSameRun(ControlChannel &control, const RunOptions &options, const StartingPoint &start) {
  std::string prompts = given(false);
  if (options.generates()) {
    TRAINC_ASSIGN_OR_RETURN(prompts, identityOfPrompts(options));
  }
  const NamedValue values[] = {
      {"training", options.trains() ? "yes" : "no"},
      {"--eval-data", given(!options.evalData.empty())},
      {options.prompts.empty() ? "--generate" : "--prompts", prompts},
      given("--max-tokens", options.maxTokens),
      given("--temperature", options.temperature),
      given("--top-k", options.topK),
      given("--top-p", options.topP),
      given("--min-p", options.minP),
      given("--repetition-penalty", options.repetitionPenalty),
      {"--seed", fmt::format("{}", options.seed.value_or(start.position.seed))},
      {"weights to begin with", start.weights},
      {"order of the samples", start.position.shuffle ? "shuffled" : "as in the data (--no-shuffle)"},
      {"--on-nonfinite", options.onNonFinite},
      {"--rename", fmt::format("{}", fmt::join(options.rename, ","))},
      {"--init-missing", fmt::format("{}", fmt::join(options.initMissing, ","))},
      {"--init-ignore", fmt::format("{}", fmt::join(options.initIgnore, ","))},
      given("--eval-every", options.evalEvery),
      {"--checkpoint-dir", given(!options.checkpointDir.empty())},
      given("--checkpoint-every", options.checkpointEvery),
      given("--keep-last", options.keepLast),
  };
  return checkSame(control, values);
}

} // namespace trainc
