// A random valid order of an entry's steps.
#pragma once

#include "plan/facts/streams.h"
#include "runtime/device/device.h"

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace trainc {

/// A step, and the iteration of its block.
struct Turn {
  uint32_t step;
  uint64_t iteration;
};

/// Draws a random order of a program's steps that keeps each stream's order and all dependencies. Half of the
/// orders prioritise streams, so that one runs as early and another as late as possible.
class Interleaving {
public:
  Interleaving(const Program &program, StepRange steps, std::mt19937_64 &random);

  /// The next step; nothing after the last one. The step must have run before the next call.
  std::optional<Turn> next();
  /// Whether the next step may be one that waits for peers.
  bool mayWait() const { return isReady(queues_[static_cast<size_t>(fb::Stream::Communication)]); }

private:
  /// Unit that a stream runs as a whole: a step, or all iterations of a block.
  struct Unit {
    uint32_t begin, end;
    uint64_t iterations;
  };
  struct Queue {
    std::vector<Unit> units;
    size_t unit = 0; ///< index of the current unit
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
  std::vector<bool> done_; ///< by step from begin_ on: done in all iterations
  std::array<size_t, kStreams> favour_;
  bool favours_; ///< whether the first runnable stream of favour_ runs, else a random one
};

} // namespace trainc
