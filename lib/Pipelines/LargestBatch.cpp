#include "lib/Pipelines/LargestBatch.h"

#include "dialects/Train/Limits.h"
#include "dialects/Train/Settings.h"
#include "dialects/Train/Train.h"
#include "lib/Pipelines/MemoryLimit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using namespace mlir;

namespace trainc {

namespace {

class BatchSearch {
public:
  BatchSearch(ModuleOp model, const CompileOptions &options, train::ProgramOp program, int64_t limit)
      : model_(model), options_(options), limit_(limit),
        accumulate_(std::to_string(train::kAccumulate.of(program))) {}

  /// Returns the largest micro-batch with these settings; none if not one sample fits.
  FailureOr<std::optional<PlannedStrategy>> largest(const TriedSettings &level);

private:
  FailureOr<PlannedStrategy> plan(int64_t batch, const TriedSettings &level);

  ModuleOp model_;
  const CompileOptions &options_;
  int64_t limit_;
  std::string accumulate_;              ///< micro-batches per step
  std::map<int64_t, Candidates> steps_; ///< by micro-batch, before activation checkpointing
};

} // namespace

FailureOr<PlannedStrategy> BatchSearch::plan(int64_t batch, const TriedSettings &level) {
  const TriedSettings cut = {{"micro_batch", std::to_string(batch)}, {"accumulate", accumulate_}};
  auto known = steps_.find(batch);
  if (known == steps_.end()) {
    FailureOr<Candidates> made = makeStep(model_, options_, cut);
    if (failed(made))
      return failure();
    known = steps_.emplace(batch, std::move(*made)).first;
  }
  FailureOr<CandidatePlan> planned = known->second.plan(level);
  if (failed(planned))
    return failure();
  TriedSettings decided = level;
  llvm::append_range(decided, cut);
  return PlannedStrategy{std::move(decided), *planned};
}

namespace {

/// Headroom in bytes of device and host for a plan of `samples` samples; negative if exceeded.
struct Headroom {
  double samples, device, host;
};

} // namespace

/// Returns the number of samples that use up one of both memories, by linear extrapolation from two plans;
/// infinite if samples take none of it.
static double samplesThatFill(double Headroom::*memory, const Headroom &a, const Headroom &b) {
  const double perSample = (a.*memory - b.*memory) / (b.samples - a.samples);
  return perSample > 0 ? b.samples + b.*memory / perSample : std::numeric_limits<double>::infinity();
}

/// Bytes are almost linear in samples. The guess extrapolates from the last two plans, for the memory that is
/// exhausted first.
static double guessLargest(const std::optional<Headroom> &before, const Headroom &now) {
  const double twice = 2 * now.samples;
  if (!before)
    return twice;
  const double full = std::min(samplesThatFill(&Headroom::device, *before, now),
                               samplesThatFill(&Headroom::host, *before, now));
  return std::isfinite(full) ? full : twice;
}

/// Each guess is between a batch that fits and one that does not; guesses are close, so that few are needed.
FailureOr<std::optional<PlannedStrategy>> BatchSearch::largest(const TriedSettings &level) {
  std::optional<PlannedStrategy> best;
  int64_t fitting = 0, tooMany = train::kMaxBatch + 1, batch = 1;
  std::optional<Headroom> before;
  while (fitting + 1 < tooMany) {
    FailureOr<PlannedStrategy> planned = plan(batch, level);
    if (failed(planned))
      return failure();
    const CandidatePlan &plan = planned->plan;
    const Headroom now{double(batch), double(limit_ - plan.bytes()), double(plan.hostLeft)};
    const double guess = guessLargest(before, now);
    const bool fits = plan.fits(limit_);
    before = now;
    (fits ? fitting : tooMany) = batch;
    if (fits)
      best = std::move(*planned);
    batch = int64_t(std::clamp(guess, double(fitting + 1), double(std::max(tooMany - 1, fitting + 1))));
  }
  return best;
}

static std::vector<TriedSettings> batchLevels() {
  return {{{"activation_checkpointing", "none"}},
          {{"activation_checkpointing", "selective"}},
          {{"activation_checkpointing", "full"}, {"checkpoint_keep", "0"}, {"checkpoint_rest", "selective"}}};
}

/// Removes settings that were given.
static TriedSettings withoutGiven(const TriedSettings &level, train::ProgramOp program) {
  TriedSettings left;
  llvm::copy_if(level, std::back_inserter(left), [&](const train::GivenSetting &each) {
    return each.word == "activation_checkpointing" || !isGiven(program, each.word);
  });
  return left;
}

FailureOr<std::vector<PlannedStrategy>> findLargestBatches(ModuleOp model, const CompileOptions &options,
                                                           int64_t limit) {
  train::ProgramOp program = *model.getOps<train::ProgramOp>().begin();
  if (!train::kMicroBatch.isSet(program))
    return program.emitError("--largest-batch looks for the largest micro-batch, and the program has none to "
                             "begin with; expected 'batch B' or 'batch B x T' (--micro-batch)");
  BatchSearch search(model, options, program, limit);
  std::vector<PlannedStrategy> found;
  for (const TriedSettings &level : batchLevels()) {
    FailureOr<std::optional<PlannedStrategy>> largest = search.largest(withoutGiven(level, program));
    if (failed(largest))
      return failure();
    if (*largest)
      found.push_back(std::move(**largest));
  }
  return found;
}

TriedSettings sharedWithLargest(const TriedSettings &decided) {
  TriedSettings own = {{"micro_batch", ""}};
  for (const TriedSettings &level : batchLevels())
    llvm::append_range(own, level);
  TriedSettings shared;
  llvm::copy_if(decided, std::back_inserter(shared), [&](const train::GivenSetting &each) {
    return llvm::none_of(own, [&](const train::GivenSetting &other) { return other.word == each.word; });
  });
  return shared;
}

/// Whether the strategy was planned at this level.
static bool isAt(const PlannedStrategy &strategy, const TriedSettings &level) {
  return strategy.decided.front().value == level.front().value;
}

std::string remarksOnLargestBatches(ArrayRef<PlannedStrategy> largest) {
  const std::string most = std::to_string(train::kMaxBatch);
  std::string text;
  for (const TriedSettings &level : batchLevels()) {
    const auto *found = llvm::find_if(largest, [&](const auto &each) { return isAt(each, level); });
    const std::string with = "with " + asOptions(level.front());
    if (found == largest.end())
      text += with + " not one sample fits\n";
    else if (llvm::any_of(found->decided,
                          [&](const auto &each) { return each.word == "micro_batch" && each.value == most; }))
      text += with + " more than the " + most + " samples that --micro-batch allows may fit\n";
  }
  return text;
}

llvm::json::Object largestBatchesJson(int64_t limit, ArrayRef<PlannedStrategy> largest) {
  return llvm::json::Object{{"memory_limit", limit}, {"strategies", strategiesJson(largest, nullptr, limit)}};
}

} // namespace trainc
