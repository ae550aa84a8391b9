// Order of samples, and prefetch of the next step's batch.
#pragma once

#include "runtime/data/dataset.h"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

namespace trainc {

/// An infinite order of samples: a function of seed and position only, so that it does not depend on the
/// number of ranks, accumulation or restarts. Random access takes O(1) time and memory.
class SampleOrder {
public:
  /// Each epoch visits all of `samples` (at least 1, below 2^62) once, in a pseudo-random permutation of its
  /// own.
  static SampleOrder shuffled(uint64_t samples, uint64_t seed) { return {samples, seed, true}; }
  /// Each epoch visits the samples in order (evaluation).
  static SampleOrder sequential(uint64_t samples) { return {samples, 0, false}; }

  /// The sample at `position` (global step * samples per step + position within the step).
  uint64_t operator()(uint64_t position) const;

  uint64_t samples() const { return samples_; }

private:
  SampleOrder(uint64_t samples, uint64_t seed, bool shuffle);
  uint64_t permute(uint64_t value, uint64_t epoch) const;

  uint64_t samples_;
  uint64_t seed_;
  bool shuffle_;
  int leftBits_;
  int rightBits_;
};

struct LoaderOptions {
  uint64_t microBatch = 1; ///< samples per rank and micro-batch
  uint64_t accumulate = 1; ///< micro-batches per step
  uint64_t rank = 0;
  uint64_t ranks = 1;
  uint64_t firstStep = 0;
  /// Position of the first step in the order; by default after `firstStep` steps of the same size.
  std::optional<uint64_t> firstPosition = std::nullopt;
};

/// All micro-batches of one step for one rank. Valid until the next call of Loader::next().
class StepBatch {
public:
  /// Rows of the whole step ([accumulate * microBatch, ...], Extent Step) of a column of the data set.
  std::span<const std::byte> step(size_t column) const { return (*columns_)[column]; }
  /// Rows of one micro-batch ([microBatch, ...], Extent Micro).
  std::span<const std::byte> micro(size_t column, uint64_t micro) const {
    const std::span<const std::byte> all = step(column);
    const size_t bytes = all.size() / accumulate_;
    return all.subspan(micro * bytes, bytes);
  }

  /// Data set indices of the samples in the rows.
  std::span<const uint64_t> samples() const { return samples_; }

private:
  friend class Loader;
  StepBatch(const std::vector<std::vector<std::byte>> &columns, std::span<const uint64_t> samples,
            uint64_t accumulate)
      : columns_(&columns), samples_(samples), accumulate_(accumulate) {}

  const std::vector<std::vector<std::byte>> *columns_;
  std::span<const uint64_t> samples_;
  uint64_t accumulate_;
};

/// Fills batches on a thread that stays one step ahead (on the caller's thread if the system cannot start
/// another). Two batches are allocated at the start and none later. A step takes ranks * accumulate *
/// microBatch samples of the order; its micro-batch m on rank r takes those from position (r * accumulate +
/// m) * microBatch on, so that the samples of a step do not depend on how they are divided among ranks.
class Loader {
public:
  /// `dataset` must outlive the loader.
  Loader(const Dataset &dataset, SampleOrder order, LoaderOptions options);
  ~Loader();
  Loader(const Loader &) = delete;
  Loader &operator=(const Loader &) = delete;

  /// Waits for the batch of `step`, which must be the step of the previous call (to replay it) or the one
  /// after it; options.firstStep at first. Fails with kInvalidInput if the data contains a value that a
  /// column does not allow.
  Result<StepBatch> next(uint64_t step);

private:
  struct Slot {
    std::vector<std::vector<std::byte>> columns;
    std::vector<uint64_t> samples; ///< samples of the rows in the columns
    Status status;
  };

  Slot &slot(uint64_t step) { return slots_[step % slots_.size()]; }
  void work();
  /// Fills the batch of step `filled_`, releasing the lock meanwhile.
  void fillNext(std::unique_lock<std::mutex> &lock);
  Status fill(uint64_t step, Slot &slot) const;

  const Dataset &dataset_;
  SampleOrder order_;
  LoaderOptions options_;
  std::array<Slot, 2> slots_;

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t filled_;   ///< steps before this one are filled
  uint64_t released_; ///< steps before this one may be overwritten: the caller is done with them
  bool stop_ = false;
  std::thread thread_;
};

} // namespace trainc
