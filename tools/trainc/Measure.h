// Measured rates of this machine: kernels of plans, communication between ranks, the disk. Free of MLIR.
#pragma once

#include "base/status.h"
#include "plan/schema/plan_generated.h"
#include "runtime/exec/executor.h"

#include <cstdint>
#include <string>

namespace trainc {

/// Totals over kernels of one kind.
struct KernelTotals {
  double seconds = 0, flops = 0, bytes = 0;
  double arithmetic = 0; ///< scalar instructions
};

/// Measured times of a plan's kernels on all threads, from a profile.
struct KernelTimes {
  KernelTotals products, attention;
  /// Other kernels that move at least 1 MiB, those bound by memory and those bound by arithmetic.
  KernelTotals memory, arithmetic;
  double launchSeconds = 0; ///< median time of kernels that move little
};

/// Runs a training step's entries on the current contents of memory. Fails like Executor::run().
Status runEntriesOfStep(Executor &executor);

/// Measures a verified plan of one rank on this CPU: one training step to warm up, then `steps` steps.
Result<KernelTimes> measureKernels(const fb::Plan &plan, uint32_t steps);

/// Rates of this machine per second, in the units of costOf().
struct KernelRates {
  double bytes = 0, arithmetic = 0;
  double fullProducts = 0, fullAttention = 0; ///< f32 FLOPs
  double halfProducts = 0, halfAttention = 0; ///< FLOPs with bf16 or f16
  double launchSeconds = 0;
};

/// Derives rates from two plans of one model: with f32, and with short floats.
KernelRates ratesOf(const KernelTimes &full, const KernelTimes &half);

/// Rates of communication between two ranks of this host.
struct LinkRates {
  double bytes = 0;       ///< per second, each way
  double meetSeconds = 0; ///< latency of a collective of a few bytes
};
Result<LinkRates> measureLink();

/// Rates of the disk of the folder for temporary files (TMPDIR), with direct I/O if supported.
struct DiskRates {
  double readBytes = 0, writeBytes = 0; ///< per second
  double accessSeconds = 0;             ///< latency of a transfer of a few bytes
};
Result<DiskRates> measureDisk();

/// Seconds by which each disk transfer slows down a concurrent step of `plan`, a verified plan of one rank.
Result<double> measureComputeOfTransfers(const fb::Plan &plan);

/// Description of this CPU: "AMD EPYC 9R14, 2 threads".
std::string describeThisCpu();

} // namespace trainc
