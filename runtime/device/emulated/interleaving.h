// One of the orders in which an entry's steps may run.
#pragma once

#include "runtime/device/device.h"

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace trainc {

/// A step, and the iteration of its block in which it runs.
struct Turn {
  uint32_t step;
  uint64_t iteration;
};

/// Steps of a program in an order drawn at random: each stream keeps its own, and a step follows those that
/// it comes after. Half of the orders favour streams over others, so that one runs as early as it may, and
/// another as late.
class Interleaving {
public:
  Interleaving(const Program &program, StepRange steps, std::mt19937_64 &random);

  /// The next step, which has run before next() is called again; nothing after the last one.
  std::optional<Turn> next();
  /// Whether the next step may be one that waits for peers.
  bool mayWait() const { return isReady(queues_[static_cast<size_t>(fb::Stream::Communication)]); }

private:
  static constexpr size_t kStreams = static_cast<size_t>(fb::Stream::MAX) + 1;

  /// What a stream runs as one: a step, or all iterations of a block.
  struct Unit {
    uint32_t begin, end;
    uint64_t iterations;
  };
  struct Queue {
    std::vector<Unit> units;
    size_t unit = 0; ///< the one in progress
    uint32_t step = 0;
    uint64_t iteration = 0;
  };

  void append(uint32_t begin, uint32_t end, uint64_t iterations);
  bool isReady(const Queue &queue) const;
  Queue *choose();
  Turn take(Queue &queue);

  const Program &program_;
  uint32_t begin_;
  std::mt19937_64 &random_;
  std::array<Queue, kStreams> queues_;
  std::vector<bool> done_; ///< by step, from begin_ on: in all iterations
  std::array<size_t, kStreams> favour_;
  bool favours_; ///< whether the first of favour_ that can run does, else any
};

} // namespace trainc
