#include "runtime/data/loader.h"

#include "runtime/base/thread.h"

namespace trainc {

Loader::Loader(const Dataset &dataset, SampleOrder order, LoaderOptions options)
    : dataset_(dataset), order_(order), options_(options), samples_(options.accumulate * options.microBatch),
      filled_(options.firstStep), released_(options.firstStep) {
  for (Slot &slot : slots_)
    for (const ColumnSpec &spec : dataset.columns())
      slot.columns.emplace_back(samples_.size() * spec.bytes());
  thread_ = tryStartThread([this] { work(); }); // without one, next() fills the batches
}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

Result<StepBatch> Loader::next(uint64_t step) {
  std::unique_lock lock(mutex_);
  if (step != released_ && step != released_ + 1)
    return failed("data loader: step {} asked for after step {}; steps follow each other", step, released_);
  released_ = step;
  changed_.notify_all();
  if (!thread_.joinable() && filled_ <= step)
    fillNext(lock);
  changed_.wait(lock, [&] { return filled_ > step; });
  if (!slot(step).status.ok())
    return slot(step).status;
  return StepBatch(slot(step).columns, options_.accumulate);
}

void Loader::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || filled_ < released_ + slots_.size(); });
    if (stop_)
      return;
    fillNext(lock);
  }
}

void Loader::fillNext(std::unique_lock<std::mutex> &lock) {
  const uint64_t step = filled_;
  lock.unlock();
  Status status = fill(step, slot(step).columns);
  lock.lock();
  slot(step).status = std::move(status);
  ++filled_;
  changed_.notify_all();
}

Status Loader::fill(uint64_t step, std::vector<std::vector<std::byte>> &columns) {
  const uint64_t stepSamples = options_.ranks * samples_.size();
  const uint64_t start = options_.firstPosition.value_or(options_.firstStep * stepSamples);
  const uint64_t first = start + (step - options_.firstStep) * stepSamples;
  for (uint64_t micro = 0; micro < options_.accumulate; ++micro)
    for (uint64_t row = 0; row < options_.microBatch; ++row)
      samples_[micro * options_.microBatch + row] =
          order_(first + (options_.rank * options_.accumulate + micro) * options_.microBatch + row);
  for (size_t column = 0; column < columns.size(); ++column)
    TRAINC_RETURN_IF_ERROR(dataset_.fill(column, samples_, columns[column]));
  return {};
}

} // namespace trainc
