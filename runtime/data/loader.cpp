#include "runtime/data/loader.h"

#include "base/thread.h"
#include "runtime/data/philox.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace trainc {

namespace {

/// Even, so that both halves end with their initial widths.
constexpr uint32_t kRounds = 8;

} // namespace

SampleOrder::SampleOrder(uint64_t samples, uint64_t seed, bool shuffle)
    : samples_(samples), seed_(seed), shuffle_(shuffle) {
  assert(samples > 0 && samples < (uint64_t{1} << 62));
  const int bits = std::max(2, static_cast<int>(std::bit_width(samples - 1)));
  leftBits_ = bits / 2;
  rightBits_ = bits - leftBits_;
}

uint64_t SampleOrder::operator()(uint64_t position) const {
  const uint64_t epoch = position / samples_;
  uint64_t sample = position % samples_;
  if (!shuffle_)
    return sample;
  // Cycle walking: the network permutes a power of two below 2 * samples (or 4); following the cycle until it
  // returns to the samples gives a permutation of these.
  do
    sample = permute(sample, epoch);
  while (sample >= samples_);
  return sample;
}

/// A Feistel network whose halves may differ by one bit and swap roles each round; the round function is
/// Philox.
uint64_t SampleOrder::permute(uint64_t value, uint64_t epoch) const {
  int leftBits = leftBits_;
  int rightBits = rightBits_;
  for (uint32_t round = 0; round < kRounds; ++round) {
    const uint64_t left = value >> rightBits;
    const uint64_t right = value & ((uint64_t{1} << rightBits) - 1);
    const auto random = philox4x32({static_cast<uint32_t>(right), round, static_cast<uint32_t>(epoch),
                                    static_cast<uint32_t>(epoch >> 32)},
                                   {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
    const uint64_t mixed = left ^ (random[0] & ((uint64_t{1} << leftBits) - 1));
    value = right << leftBits | mixed;
    std::swap(leftBits, rightBits);
  }
  return value;
}

Loader::Loader(const Dataset &dataset, SampleOrder order, LoaderOptions options)
    : dataset_(dataset), order_(order), options_(options), filled_(options.firstStep),
      released_(options.firstStep) {
  for (Slot &slot : slots_) {
    slot.samples.resize(options.accumulate * options.microBatch);
    for (const ColumnSpec &spec : dataset.columns())
      slot.columns.emplace_back(slot.samples.size() * spec.bytes());
  }
  thread_ = tryStartThread([this] { work(); }); // without a thread, next() fills the batches
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
  return StepBatch(slot(step).columns, slot(step).samples, options_.accumulate);
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
  Status status = fill(step, slot(step));
  lock.lock();
  slot(step).status = std::move(status);
  ++filled_;
  changed_.notify_all();
}

Status Loader::fill(uint64_t step, Slot &slot) const {
  const uint64_t stepSamples = options_.ranks * slot.samples.size();
  const uint64_t start = options_.firstPosition.value_or(options_.firstStep * stepSamples);
  const uint64_t first = start + (step - options_.firstStep) * stepSamples;
  for (uint64_t micro = 0; micro < options_.accumulate; ++micro)
    for (uint64_t row = 0; row < options_.microBatch; ++row)
      slot.samples[micro * options_.microBatch + row] =
          order_(first + (options_.rank * options_.accumulate + micro) * options_.microBatch + row);
  for (size_t column = 0; column < slot.columns.size(); ++column)
    TRAINC_RETURN_IF_ERROR(dataset_.fill(column, slot.samples, slot.columns[column]));
  return {};
}

} // namespace trainc
