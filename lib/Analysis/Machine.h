// What a machine can do at most, and how long work takes on it.
#pragma once

#include "dialects/Plan/Work.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <limits>

namespace trainc {

/// Rates that kernels reach. Targets know machines (lib/Codegen/Target.h).
struct Machine {
  llvm::StringRef name;
  /// Of short products, as the data sheet has it: what an MFU is a share of.
  double peakFlopsPerSecond;
  /// Of products of f32 numbers, and of all arithmetic besides products.
  double flopsPerSecond;
  /// Of matrix products with factors that are rounded to TF32, and of bf16 or f16.
  double tf32FlopsPerSecond, bf16FlopsPerSecond;
  /// What short products keep of that where rows begin on no border of 16 bytes.
  double unalignedShare = 1;
  /// What products keep of their rate that add up columns beside.
  double sideSumShare = 1;
  /// Of attention with bf16 or f16 numbers: by kernels of the plan and, forward and backward, by libraries.
  double attentionFlopsPerSecond, libraryAttentionFlopsPerSecond, libraryAttentionGradFlopsPerSecond;
  double bytesPerSecond;
  /// What one thread can ask for: kernels of few threads do not reach the memory's rate.
  double threadBytesPerSecond = std::numeric_limits<double>::infinity();
  /// From when an access to memory is asked for to when what waits for it goes on; 0 where caches hide it.
  double accessSeconds = 0;
  /// Cost of starting an instruction on all threads.
  double launchSeconds;
  /// Between ranks, each way.
  double linkBytesPerSecond;
  /// What is left of that while the rank computes, whose cores and memory move the bytes too.
  double linkShareBesideCompute;
  /// What a collective takes besides its bytes: ranks meet, and learn that all are done.
  double meetSeconds;
};

/// Work and bytes, and how long they take by the roofline: the largest of work over peak, bytes over
/// bandwidth and accesses one after the other, behind the launch.
struct Cost {
  double flops = 0, bytes = 0;
  double workSeconds = 0, byteSeconds = 0, chainSeconds = 0, launchSeconds = 0;

  double seconds() const;
  /// "launch", "bytes", "chain" or "work": what takes the most of it.
  llvm::StringRef boundBy() const;
};

/// Flops per second that work reaches, besides its epilogue.
double workRate(const plan::Work &work, const Machine &machine);

/// The one price of everything but collectives: what passes choose by, and what plans are predicted to take.
Cost costOf(const plan::Work &work, const Machine &machine);

/// Bytes that take as long to move as an instruction takes to start.
double launchBytes(const Machine &machine);

} // namespace trainc
