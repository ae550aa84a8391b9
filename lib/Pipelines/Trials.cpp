#include "lib/Pipelines/Trials.h"

#include <set>

using namespace mlir;

namespace trainc {

/// Returns the cell without its offloading. Cells that differ only in offloading share a step, because
/// offloading is applied after the step is made.
static Cell inMemory(Cell cell) { return {cell.division, cell.split}; }

/// Creates those of the jobs' steps that do not exist yet. A step ends before activation checkpointing.
LogicalResult Trials::makeCellSteps(ArrayRef<Job> jobs) {
  std::set<Cell> missing;
  for (const Job &job : jobs)
    if (steps_.count(inMemory(job.cell)) == 0)
      missing.insert(inMemory(job.cell));
  const std::vector<Cell> cells(missing.begin(), missing.end());
  std::vector<TriedSettings> decided;
  for (const Cell &cell : cells)
    decided.push_back(choices_.decided(cell));
  FailureOr<std::vector<Candidates>> made = makeSteps(model_, options_, decided, steps_.empty());
  if (failed(made))
    return failure();
  for (auto [cell, step] : llvm::zip_equal(cells, *made))
    steps_.emplace(cell, std::move(step));
  return success();
}

LogicalResult Trials::make(ArrayRef<Job> jobs) {
  if (failed(makeCellSteps(jobs)))
    return failure();
  std::vector<std::optional<CandidatePlan>> plans(jobs.size());
  const auto planJob = [&](size_t i) -> LogicalResult {
    TriedSettings extra = choices_.offloaded(jobs[i].cell);
    llvm::append_range(extra, jobs[i].extra);
    FailureOr<CandidatePlan> plan = steps_.at(inMemory(jobs[i].cell)).plan(extra);
    if (succeeded(plan))
      plans[i] = *plan;
    return plan;
  };
  if (failed(planEach(model_.getContext(), jobs.size(), tried_.empty(), planJob)))
    return failure();
  for (auto [job, plan] : llvm::zip_equal(jobs, plans)) {
    tried_.push_back({choices_.decided(job.cell), *plan});
    llvm::append_range(tried_.back().decided, job.extra);
  }
  return success();
}

FailureOr<const Candidates *> Trials::step(Cell cell) {
  if (failed(makeCellSteps(Job{cell, {}})))
    return failure();
  return &steps_.at(inMemory(cell));
}

LogicalResult Trials::plan(ArrayRef<Trial> trials) {
  std::vector<Job> jobs;
  const size_t first = size();
  for (const Trial &trial : trials)
    if (numbers_.insert({trial, first + jobs.size()}).second)
      jobs.push_back({trial.cell, choices_.levels[trial.level]});
  return make(jobs);
}

FailureOr<size_t> Trials::plan(Trial trial) {
  if (failed(plan(ArrayRef(trial))))
    return failure();
  return numbers_.at(trial);
}

LogicalResult Trials::planWith(Cell cell, ArrayRef<TriedSettings> extra) {
  std::vector<Job> jobs;
  for (const TriedSettings &settings : extra)
    jobs.push_back({cell, settings});
  return make(jobs);
}

FailureOr<int64_t> Trials::lowerBoundBytes(Cell cell, size_t lastLevel) {
  constexpr int64_t kGapDivisor = 8; // up to 1/8 of scratch may be gaps
  // All splits into several micro-batches share a bound: accumulated gradients take the same memory.
  cell.split = std::min<size_t>(cell.split, 1);
  if (const auto known = lowerBounds_.find(cell); known != lowerBounds_.end())
    return known->second;
  FailureOr<const Candidates *> made = step(cell);
  if (failed(made))
    return failure();
  TriedSettings extra = choices_.offloaded(cell);
  llvm::append_range(extra, choices_.levels[lastLevel]);
  FailureOr<MemoryReport> memory = (*made)->memoryWithoutBatches(extra);
  if (failed(memory))
    return failure();
  return lowerBounds_[cell] = memory->needed() - memory->activations / kGapDivisor;
}

std::optional<size_t> Trials::best() const {
  std::optional<size_t> best;
  for (size_t number = 0; number < size(); ++number)
    if (fits(number) && (!best || seconds(number) < seconds(*best)))
      best = number;
  return best;
}

bool Trials::takesLongerThanBest(double seconds) const {
  const std::optional<size_t> fastest = best();
  return fastest && seconds >= this->seconds(*fastest);
}

bool Trials::isBetter(size_t a, size_t b) const {
  return seconds(a) <= seconds(b) && bytes(a) <= bytes(b) && (seconds(a) < seconds(b) || bytes(a) < bytes(b));
}

size_t Trials::smallest() const {
  const auto smallest = llvm::min_element(
      tried_, [](const PlannedStrategy &a, const PlannedStrategy &b) { return a.plan.isSmaller(b.plan); });
  return size_t(smallest - tried_.begin());
}

int64_t Trials::hostThatFits() const {
  int64_t minBytes = 0;
  for (const auto &[decided, plan] : tried_)
    if (const int64_t host = plan.memory.host.total();
        plan.bytes() <= limit_ && (minBytes == 0 || host < minBytes))
      minBytes = host;
  return minBytes;
}

std::optional<Trial> Trials::trialOf(size_t number) const {
  for (const auto &[trial, planned] : numbers_)
    if (planned == number)
      return trial;
  return std::nullopt;
}

bool Trials::somethingFits(Cell cell) const {
  return std::any_of(numbers_.lower_bound({cell, 0}), numbers_.lower_bound({cell, choices_.levels.size()}),
                     [&](const auto &each) { return fits(each.second); });
}

} // namespace trainc
