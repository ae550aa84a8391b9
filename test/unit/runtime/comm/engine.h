// Interface of collective tests to an engine: ranks that run it.
#pragma once

#include "runtime/comm/communicator.h"
#include "test/unit/common/grid.h"

#include <array>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace trainc::test {

/// Ranks that an engine brings up.
struct Job {
  std::string engine;
  Grid grid;
};

/// Jobs of ranks on which this program runs tests.
std::vector<Job> jobs();

/// For test names and messages: "threads_4_by_2".
std::string nameOf(const testing::TestParamInfo<Job> &info);
void PrintTo(const Job &job, std::ostream *out);

/// One rank of a job.
class Rank {
public:
  Rank(Communicator &communicator, Grid grid) : communicator_(communicator), grid_(grid) {}

  Communicator *operator->() const { return &communicator_; }
  uint32_t number() const { return communicator_.rank(); }
  const Grid &grid() const { return grid_; }

  std::span<float> allocate(uint64_t elements);
  /// allocate(), filled with value().
  std::span<float> allocateValues(uint64_t elements);

  /// One range: source, destination and the number of elements are filled in. `slot` names it for wait().
  void start(uint32_t slot, Collective collective, std::span<const float> source,
             std::span<float> destination);
  /// Expects success.
  void wait(uint32_t slot);
  /// Both.
  void run(Collective collective, std::span<const float> source, std::span<float> destination);
  /// The same for several ranges, or types other than F32.
  void run(Collective collective, std::span<const CollectiveRange> ranges);
  void run(const Collective &collective);
  /// Expects that run(), of this rank and all others so far, has transferred the bytes of a ring: over the
  /// ranks of a group N-1 times all bytes, twice that for an all-reduce. All ranks call it at the same
  /// points.
  void expectBytesOfARing();

private:
  uint64_t sumOverRanks(uint64_t number);

  Communicator &communicator_;
  Grid grid_;
  std::array<CollectiveRange, 64> ranges_; ///< by slot
  std::array<Ticket, 64> tickets_;         ///< by slot
  uint64_t sentBefore_ = communicator_.bytesSent();
  uint64_t ringBytes_ = 0; ///< bytes of all run() calls, over all ranks
};

/// Runs `body` on every rank, or on the one that this process is. A failed expectation on any rank fails the
/// test. A rank may allocate `bytes`.
void onRanks(const Job &job, uint64_t bytes, const std::function<void(Rank &)> &body);

} // namespace trainc::test
