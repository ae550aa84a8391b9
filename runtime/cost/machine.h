// What a machine can do at most, and how long work takes on it.
#pragma once

#include "runtime/cost/work.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace trainc {

/// What a rank has of a machine, and how it reaches others: rates that kernels reach. Files in
/// examples/clusters have them (cluster_file.h).
struct Machine {
  std::string name;
  /// Of short products, as the data sheet has it: what an MFU is a share of.
  double peakFlopsPerSecond = 0;
  /// Of products of f32 numbers.
  double flopsPerSecond = 0;
  /// Instructions on single numbers; 0: as of products of f32 numbers.
  double arithmeticPerSecond = 0;
  /// Products copy their factors before they multiply them, so that bytes add to their work.
  bool packsFactors = false;
  /// Of matrix products with factors that are rounded to TF32, of bf16, and of fp8; 0 where there are none of
  /// those.
  double tf32FlopsPerSecond = 0, bf16FlopsPerSecond = 0, fp8FlopsPerSecond = 0;
  /// Of f16; 0: as of bf16. CPUs widen these factors to f32.
  double f16FlopsPerSecond = 0;
  /// What short products keep of that where rows begin on no border of 16 bytes.
  double unalignedShare = 1;
  /// What products keep of their rate that add up columns beside.
  double sideSumShare = 1;
  /// Of attention with f32 numbers; 0: as of products.
  double f32AttentionFlopsPerSecond = 0;
  /// Of attention with bf16 or f16 numbers: by kernels of the plan and, forward and backward, by libraries.
  double attentionFlopsPerSecond = 0, libraryAttentionFlopsPerSecond = 0,
         libraryAttentionGradFlopsPerSecond = 0;
  double bytesPerSecond = 0;
  /// What one thread can ask for: kernels of few threads do not reach the memory's rate.
  double threadBytesPerSecond = std::numeric_limits<double>::infinity();
  /// From when an access to memory is asked for to when what waits for it goes on; 0 where caches hide it.
  double accessSeconds = 0;
  /// Cost of starting an instruction on all threads.
  double launchSeconds = 0;
  uint64_t memoryBytes = 0; ///< of the device; 0 where unknown

  /// Between ranks of a node, each way.
  double linkBytesPerSecond = 0;
  /// What is left of that while the rank computes, whose cores and memory move the bytes too.
  double linkShareBesideCompute = 1;
  /// What a collective takes besides its bytes: ranks meet, and learn that all are done.
  double meetSeconds = 0;
  /// From one rank of a ring to the next, in a node and through the network.
  double linkHopSeconds = 0, networkHopSeconds = 0;
  /// Of a node to all others, each way, for all of its ranks together; infinite where unknown.
  double networkBytesPerSecond = std::numeric_limits<double>::infinity();
  uint32_t nodeRanks = UINT32_MAX; ///< ranks of a node: the first ones are on the first node

  /// Of copies between the device and the host, each way, and of the disk; infinite where unknown.
  double hostBytesPerSecond = std::numeric_limits<double>::infinity(),
         diskReadBytesPerSecond = std::numeric_limits<double>::infinity(),
         diskWriteBytesPerSecond = std::numeric_limits<double>::infinity();
  /// What the cores of a GPU's host read and write of their memory, for one of the node's ranks; infinite
  /// where unknown.
  double hostComputeBytesPerSecond = std::numeric_limits<double>::infinity();
  /// Instructions on single numbers that they do, likewise.
  double hostArithmeticPerSecond = std::numeric_limits<double>::infinity();
  double hostLaunchSeconds = 0;  ///< cost of starting a kernel on them
  uint64_t hostMemoryBytes = 0;  ///< of a node's host; 0 where unknown
  double diskAccessSeconds = 0;  ///< what a transfer to or from the disk takes besides its bytes
  double diskComputeSeconds = 0; ///< what such a transfer takes from computation beside it
  /// An entry's last copies to disk go on beside the next one, as trainrun has it on CPUs.
  bool copiesOutlastEntries = false;
};

/// The same machine where each of `ranks` has an equal part of what the device does in a second.
Machine dividedAmong(Machine machine, double ranks);

/// Work and bytes, and how long they take by the roofline: the largest of work over peak, bytes over
/// bandwidth and accesses one after the other, behind the launch.
struct Cost {
  double flops = 0, bytes = 0;
  double workSeconds = 0, byteSeconds = 0, chainSeconds = 0, launchSeconds = 0;

  double seconds() const;
  /// "launch", "bytes", "chain" or "work": what takes the most of it.
  std::string_view boundBy() const;
};

/// Flops per second that work reaches, besides its arithmetic.
double workRate(const Work &work, const Machine &machine);

/// The one price of everything but collectives: what passes choose by, and what plans are predicted to take.
Cost costOf(const Work &work, const Machine &machine);

/// Bytes that take as long to move as an instruction takes to start.
double launchBytes(const Machine &machine);

} // namespace trainc
