#include "tools/common/foreign_options.h"

#include "base/constant_text.h"
#include "base/name_pattern.h"
#include "dialects/Train/ProgramLines.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace trainc {

namespace {

constexpr ConstantText kOptimizers = ConstantText()
                                         .add("there are the optimizers ")
                                         .addWords(train::kOptimizerWords, "and")
                                         .add(", as in `optimizer adamw(lr 1e-3)`"),
                       kSchedules = ConstantText()
                                        .add("there are the schedules ")
                                        .addWords(train::kScheduleWords, "and")
                                        .add(", as in `schedule cosine(warmup 100)`");

// Advice that several options share.
constexpr std::string_view
    kForTorchrun = "torchrun takes it: write it before trainrun",
    kHostsAreChosen = "mpirun, srun or torchrun choose hosts and start trainrun there",
    kSeveralHosts = "mpirun, srun or torchrun start trainrun on several hosts",
    kLaunchers =
        "mpirun, srun or torchrun start trainrun on several hosts, trainrun --nproc-per-node=N on one",
    kDeepSpeedRecipes = "recipes of DeepSpeed are not read; --zero-stage=N, --offload and --precision of "
                        "trainc compile say the same",
    kAccelerateRecipes = "recipes of Accelerate are not read; --precision=bf16, --zero-stage=N and "
                         "--accumulate=A of trainc compile say the same",
    kCompilesAll = "trainc always compiles the whole step",
    kOtherRanks =
        "a checkpoint goes on at any number of ranks: compile with another --ranks and run with --resume",
    kSumsAlone = "evaluation keeps sums alone", kNoTpus = "there is no code for TPUs",
    kTrackers = "trainrun --metrics=FILE.jsonl has what trackers show",
    kEvaluation = "trainrun --eval-data computes the loss, and perplexity where it means something",
    kKeepsLatest = "trainrun --keep-last=N keeps the latest checkpoints, not the best",
    kNoQuantising = "nothing prunes or quantises a model",
    kOneAttention = "nn.attention is always computed in blocks, and keeps no matrix of scores",
    kPacking = "samples are cut from one stream of tokens, as packing does; to keep texts apart, "
               "nn.attention takes segments",
    kOneLength = "samples have one length; a sample that is shorter ends in ignored labels",
    kForHub = "trainc consolidate writes a file that Hugging Face loads",
    kRankVariables = "launchers say it by variables (RANK, WORLD_SIZE)",
    kLocalRankVariable = "launchers say it by variables (LOCAL_RANK)",
    kAddressVariable = "launchers say it by a variable (MASTER_ADDR)",
    kPortVariable = "launchers say it by a variable (MASTER_PORT)",
    kIsProgram = "trainrun is a program, started as any other",
    kNoTensorRanks = "models are not divided by tensors, pipelines or sequences; --zero-stage=3 of trainc "
                     "compile divides parameters over ranks",
    kNoModelRanks = "models are not divided by tensors, pipelines, sequences or experts; --zero-stage=3 of "
                    "trainc compile divides parameters over ranks",
    kSharedCpus = "the ranks of a host share its CPUs; trainrun --threads=N says how many each takes",
    kReadsAhead = "data files are read as they lie, ahead of the step",
    kMakesCode = "trainc makes code for this CPU itself", kFuses = "the compiler fuses kernels itself",
    kForMpirun = "mpirun takes it: start trainrun with mpirun",
    kUnreadColumns = "columns that the model does not name are left unread",
    kPeakIsKnown = "the peak is known before the run; trainrun --metrics has what was allocated",
    kOneMixed = "there is one mixed precision: --precision of trainc compile says which",
    kProgress = "progress has about twenty lines a run, and trainrun --metrics=FILE.jsonl each step",
    kLossAsIs = "the loss is shown as it is; trainrun --on-nonfinite says whether a run goes on",
    kOneForm = "the plan fixes how ranks communicate, and overlaps it with computation",
    kNoDatasets = "nothing is downloaded: trainc tokenize makes a token file of texts, which trainrun --data "
                  "takes",
    kModelIsText = "the model's text decides it; trainc import writes the text of a known model",
    kNoParts = "files are taken whole: trainrun --data for training, --eval-data for evaluation";

constexpr ForeignOption kForeignOptions[] = {
#define TRAINC_FOREIGN_OPTION(NAME, HOME, ...) {NAME, Home::k##HOME, __VA_ARGS__},
#include "tools/common/foreign_options.def"
#undef TRAINC_FOREIGN_OPTION
};

/// Length of a pattern, by which the closer one is chosen; an exact one is longer than any with `*`.
size_t closeness(std::string_view pattern) {
  return pattern.find('*') != std::string_view::npos ? pattern.size() : pattern.size() + 1000;
}

/// Whether an entry for `wanted` is the answer to `value`, which is in lower case.
bool fitsValue(std::string_view wanted, std::string_view value) {
  if (value.empty())
    return wanted == kNoValue;
  return value == wanted || (!isOff(value) && matchesPattern(wanted, value));
}

std::string lowered(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

} // namespace

std::span<const ForeignOption> foreignOptions() { return kForeignOptions; }

const ForeignOption *findForeignOption(std::string_view name, std::string_view value) {
  const std::string lower = lowered(value);
  const auto rank = [](const ForeignOption &entry) {
    return std::pair(closeness(entry.name), entry.value.empty() ? 0 : closeness(entry.value));
  };
  const ForeignOption *found = nullptr;
  for (const ForeignOption &entry : kForeignOptions)
    if (matchesPattern(entry.name, name) && (entry.value.empty() || fitsValue(entry.value, lower)) &&
        (!found || rank(entry) > rank(*found)))
      found = &entry;
  return found;
}

bool isOff(std::string_view value) {
  constexpr std::string_view kOff[] = {"false", "no", "none", "off"};
  return std::ranges::find(kOff, lowered(value)) != std::end(kOff);
}

} // namespace trainc
