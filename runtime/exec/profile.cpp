#include "runtime/exec/profile.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace trainc {

namespace {

/// Time within `all` that is covered by none of `busy`; reorders and clips `busy`.
double idleIn(TimeSpan all, std::vector<TimeSpan> &busy) {
  for (TimeSpan &each : busy)
    each = {std::clamp(each.begin, all.begin, all.end), std::clamp(each.end, all.begin, all.end)};
  return std::max(0.0, all.seconds() - secondsCovered(busy));
}

} // namespace

void ProfileRow::add(const ProfileRow &other) {
  sources += other.sources;
  calls += other.calls;
  seconds += other.seconds;
  flops += other.flops;
  bytes += other.bytes;
  predictedSeconds += other.predictedSeconds;
  minSeconds = minSeconds && other.minSeconds ? std::optional(*minSeconds + *other.minSeconds) : std::nullopt;
}

void Profiler::reserve(const Program &program) {
  for (const Step &step : program.steps)
    samples_.emplace(step.instruction, Sample{&program, &step, {}, {}});
}

void Profiler::onStep(const Step &step, TimeSpan span) {
  samples_.find(step.instruction)->second.ran.add(span.seconds());
  if (!isInStep_)
    return;
  busy_.push_back(span);
  if (std::holds_alternative<CollectiveStep>(step.operation))
    communication_.addCollective(span);
}

void Profiler::onWait(const Step &step, TimeSpan span) {
  samples_.find(step.instruction)->second.waited.add(span.seconds());
  if (!isInStep_)
    return;
  busy_.push_back(span);
  if (std::holds_alternative<CollectiveStep>(step.operation))
    communication_.addWait(span);
}

void Profiler::endTrainingStep(TimeSpan step) {
  isInStep_ = false;
  ++steps_;
  stepSeconds_ += step.seconds();
  idleSeconds_ += idleIn(step, busy_);
  busy_.clear();
  (void)communication_.seconds(); // adds the times of this step
}

ProfileRow Profiler::describe(const Sample &sample) const {
  const StepFacts facts = factsOf(plan_, *sample.step);
  const auto calls = static_cast<double>(sample.ran.calls);
  ProfileRow row{.entry = sample.program->name,
                 .kind = facts.kind,
                 .what = facts.what,
                 .source = facts.source,
                 .sources = 1,
                 .calls = sample.ran.calls,
                 .seconds = sample.ran.seconds,
                 .flops = calls * facts.flops,
                 .bytes = calls * facts.bytes};
  if (const std::optional<double> min = facts.minSeconds(rates_))
    row.minSeconds = calls * *min;
  row.predictedSeconds = calls * facts.predictedSeconds;
  return row;
}

ProfileRow Profiler::describeWait(const Sample &sample) const {
  return {.entry = sample.program->name,
          .kind = factsOf(plan_, *sample.step).kind,
          .what = waitName(*sample.step),
          .source = factsOf(plan_, *sample.step).source,
          .sources = 1,
          .calls = sample.waited.calls,
          .seconds = sample.waited.seconds};
}

std::vector<ProfileRow> Profiler::rows() const {
  std::map<std::pair<std::string_view, std::string>, ProfileRow> merged;
  const auto merge = [&](ProfileRow row) {
    auto [known, isNew] = merged.try_emplace({row.entry, row.what}, row);
    if (isNew)
      return;
    ProfileRow &sum = known->second;
    sum.source = std::min(sum.source, row.source); // independent of the order of samples
    sum.add(row);
  };
  for (const auto &[instruction, sample] : samples_) {
    if (sample.ran.calls > 0)
      merge(describe(sample));
    if (sample.waited.calls > 0)
      merge(describeWait(sample));
  }
  std::vector<ProfileRow> rows;
  rows.reserve(merged.size());
  for (auto &[key, row] : merged)
    rows.push_back(std::move(row));
  std::ranges::sort(rows, std::greater{}, &ProfileRow::seconds);
  return rows;
}

Profile Profiler::profile() const { return {rates_, rows(), steps_, stepSeconds_, idleSeconds_}; }

} // namespace trainc
