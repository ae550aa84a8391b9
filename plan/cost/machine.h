// Rates of a machine, and the time of work on it.
#pragma once

#include "plan/cost/work.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace trainc {

/// A rank's share of a machine and its connections, with the rates that kernels reach. Files in
/// examples/clusters contain them (cluster_file.h).
struct Machine {
  std::string name;
  /// Data-sheet peak of bf16 and f16 products, the base of MFU.
  double peakFlopsPerSecond = 0;
  /// FLOP/s of f32 products.
  double flopsPerSecond = 0;
  /// Scalar instructions per second; 0: like f32 products.
  double arithmeticPerSecond = 0;
  /// Whether products pack their factors first, which adds memory traffic to their time.
  bool packsFactors = false;
  /// FLOP/s of matrix products with factors of TF32, bf16 and fp8; 0 if unsupported.
  double tf32FlopsPerSecond = 0, bf16FlopsPerSecond = 0, fp8FlopsPerSecond = 0;
  /// FLOP/s of f16 products; 0: like bf16. CPUs widen f16 factors to f32.
  double f16FlopsPerSecond = 0;
  /// Fraction of the bf16 and f16 rates that products reach if rows are not aligned to 16 bytes.
  double unalignedShare = 1;
  /// Fraction of the rates that products reach if they also sum columns.
  double sideSumShare = 1;
  /// FLOP/s of f32 attention; 0: like products.
  double f32AttentionFlopsPerSecond = 0;
  /// FLOP/s of bf16 or f16 attention: by kernels of the plan, and by libraries forward and backward.
  double attentionFlopsPerSecond = 0, libraryAttentionFlopsPerSecond = 0,
         libraryAttentionGradFlopsPerSecond = 0;
  double bytesPerSecond = 0;
  /// Memory bandwidth of one thread: kernels with few threads do not reach the full bandwidth.
  double threadBytesPerSecond = std::numeric_limits<double>::infinity();
  /// Latency of a memory access that others depend on; 0 if caches hide it.
  double accessSeconds = 0;
  /// Kernel launch overhead.
  double launchSeconds = 0;
  uint64_t memoryBytes = 0; ///< of the device; 0 if unknown

  /// Bandwidth between ranks of a node, each way.
  double linkBytesPerSecond = 0;
  /// Fraction of linkBytesPerSecond that remains during computation, which shares cores and memory with the
  /// transfer.
  double linkShareBesideCompute = 1;
  /// Fixed cost of a collective: ranks meet, and learn that all are done.
  double meetSeconds = 0;
  /// Latency from one rank of a ring to the next, within a node and over the network.
  double linkHopSeconds = 0, networkHopSeconds = 0;
  /// Network bandwidth of a node, each way, shared by all its ranks; infinity if unknown.
  double networkBytesPerSecond = std::numeric_limits<double>::infinity();
  uint32_t nodeRanks = UINT32_MAX; ///< ranks per node; assigned consecutively

  /// Bandwidth of copies between device and host, each way, and of the disk; infinity if unknown.
  double hostBytesPerSecond = std::numeric_limits<double>::infinity(),
         diskReadBytesPerSecond = std::numeric_limits<double>::infinity(),
         diskWriteBytesPerSecond = std::numeric_limits<double>::infinity();
  /// Memory bandwidth of a GPU host's cores, per rank of the node; infinity if unknown.
  double hostComputeBytesPerSecond = std::numeric_limits<double>::infinity();
  /// Scalar instructions per second of these cores, per rank; infinity if unknown.
  double hostArithmeticPerSecond = std::numeric_limits<double>::infinity();
  double hostLaunchSeconds = 0;  ///< launch overhead of a kernel on these cores
  uint64_t hostMemoryBytes = 0;  ///< of a node's host; 0 if unknown
  double diskAccessSeconds = 0;  ///< latency of a disk transfer
  double diskComputeSeconds = 0; ///< time that a disk transfer takes from concurrent computation
  /// Whether the last disk copies of an entry overlap with the next one, as in trainrun on CPUs.
  bool copiesOutlastEntries = false;
};

/// The machine with the device's rates divided equally among `ranks` ranks.
Machine dividedAmong(Machine machine, double ranks);

/// Work, bytes, and their time by the roofline model: launch overhead plus the maximum of the time of the
/// work, the time of the bytes, and the time of dependent memory accesses.
struct Cost {
  double flops = 0, bytes = 0;
  double workSeconds = 0, byteSeconds = 0, chainSeconds = 0, launchSeconds = 0;

  double seconds() const;
  /// The dominant term: "launch", "bytes", "chain" or "work".
  std::string_view boundBy() const;
};

/// FLOP/s that the work reaches, without its arithmetic.
double workRate(const Work &work, const Machine &machine);

/// The cost model of everything except collectives, used by passes for decisions and by plans for
/// predictions.
Cost costOf(const Work &work, const Machine &machine);

/// Bytes whose transfer takes as long as the launch overhead.
double launchBytes(const Machine &machine);

} // namespace trainc
