// `--largest-batch`: the maximum micro-batch within a memory limit, for several kinds of activation
// checkpointing.
#include "lib/Pipelines/PhaseEvaluator.h"
#include "lib/Pipelines/Queries.h"
#include "lib/Pipelines/Settings.h"
#include "plan/settings/limits.h"
#include "plan/settings/settings.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace trainc {

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

/// Returns the largest micro-batch with these settings; none if not one sample fits. Each guess is between a
/// batch that fits and one that does not; guesses are close, so that few are needed.
static FailureOr<std::optional<EvaluatedStrategy>>
findLargest(Evaluations &evaluations, const Settings &level, int64_t accumulate, int64_t limit) {
  std::optional<EvaluatedStrategy> best;
  int64_t fitting = 0, tooMany = train::kMaxBatch + 1, batch = 1;
  std::optional<Headroom> before;
  while (fitting + 1 < tooMany) {
    Settings settings = level;
    settings.push_back(train::kMicroBatch.as(batch));
    settings.push_back(train::kAccumulate.as(accumulate));
    const FailureOr<std::vector<size_t>> number = evaluations.add(settings);
    if (failed(number))
      return failure();
    const Evaluation &plan = evaluations[number->front()];
    const Headroom now{double(batch), double(limit - plan.bytes()), double(plan.hostLeft)};
    const double guess = guessLargest(before, now);
    before = now;
    (plan.fits(limit) ? fitting : tooMany) = batch;
    if (plan.fits(limit))
      best = {std::move(settings), plan};
    batch = int64_t(std::clamp(guess, double(fitting + 1), double(std::max(tooMany - 1, fitting + 1))));
  }
  return best;
}

static std::vector<Settings> batchLevels() {
  using enum train::Checkpointing;
  const auto &checkpointing = train::kActivationCheckpointing;
  return {{checkpointing.as(none)},
          {checkpointing.as(selective)},
          {checkpointing.as(full), train::kCheckpointKeep.as("0"), train::kCheckpointRest.as(selective)}};
}

/// Removes settings that were given.
static Settings withoutGiven(const Settings &level, train::ProgramOp program) {
  return only(level, [&](const train::GivenSetting &each) {
    return each.word == train::kActivationCheckpointing.name || !isGiven(program, settingOf(each));
  });
}

FailureOr<std::vector<EvaluatedStrategy>> findLargestBatches(ModuleOp model, const CompileOptions &options,
                                                             int64_t limit) {
  train::ProgramOp program = *model.getOps<train::ProgramOp>().begin();
  if (!train::kMicroBatch.isSet(program))
    return program.emitError("--largest-batch looks for the largest micro-batch, and the program has none to "
                             "begin with; expected 'batch B' or 'batch B x T' (--micro-batch)");
  PhaseEvaluator evaluator(model, options, /*cachesSchedules=*/false);
  Evaluations evaluations(evaluator);
  const int64_t accumulate = train::kAccumulate.of(program);
  std::vector<EvaluatedStrategy> found;
  for (const Settings &level : batchLevels()) {
    FailureOr<std::optional<EvaluatedStrategy>> largest =
        findLargest(evaluations, withoutGiven(level, program), accumulate, limit);
    if (failed(largest))
      return failure();
    if (*largest)
      found.push_back(std::move(**largest));
  }
  return found;
}

Settings sharedWithLargest(const Settings &decided) {
  Settings own = {train::kMicroBatch.as(1)};
  for (const Settings &level : batchLevels())
    llvm::append_range(own, level);
  return only(decided, [&](const train::GivenSetting &each) {
    return llvm::none_of(own, [&](const train::GivenSetting &other) { return other.word == each.word; });
  });
}

std::string remarksOnLargestBatches(ArrayRef<EvaluatedStrategy> largest) {
  std::string text;
  for (const Settings &level : batchLevels()) {
    const auto *found = llvm::find_if(largest, [&](const EvaluatedStrategy &each) {
      return each.decided.front().value == level.front().value;
    });
    const std::string with = "with " + asOptions(level.front());
    if (found == largest.end())
      text += with + " not one sample fits\n";
    else if (llvm::is_contained(found->decided, train::kMicroBatch.as(train::kMaxBatch)))
      text += with + " more than the " + std::to_string(train::kMaxBatch) +
              " samples that --micro-batch allows may fit\n";
  }
  return text;
}

} // namespace trainc
