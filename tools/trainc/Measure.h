// What this machine reaches: kernels of plans, the exchange between ranks, the disk. Free of MLIR.
#pragma once

#include "runtime/base/status.h"
#include "runtime/exec/executor.h"
#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <string>

namespace trainc {

/// What kernels of one kind do in a while.
struct KernelTotals {
  double seconds = 0, flops = 0, bytes = 0;
  double arithmetic = 0; ///< instructions on single numbers
};

/// Kernels of one plan on all threads, by a profile.
struct KernelTimes {
  KernelTotals products, attention;
  /// Of the others those that move a MiB and more: they wait for memory, or for arithmetic.
  KernelTotals memory, arithmetic;
  double launchSeconds = 0; ///< the median of kernels that move little
};

/// Runs a training step's entries, on what is in memory. Fails as Executor::run() does.
Status runEntriesOfStep(Executor &executor);

/// Runs a verified plan of one rank on this CPU: its training step once to warm up, then `steps` times.
Result<KernelTimes> measureKernels(const fb::Plan &plan, uint32_t steps);

/// What this machine does in a second, by costOf().
struct KernelRates {
  double bytes = 0, arithmetic = 0;
  double fullProducts = 0, fullAttention = 0; ///< flops, of f32
  double halfProducts = 0, halfAttention = 0; ///< flops, of short numbers
  double launchSeconds = 0;
};

/// From two plans of one model: with f32, and with short numbers.
KernelRates ratesOf(const KernelTimes &full, const KernelTimes &half);

/// What two ranks of this host exchange.
struct LinkRates {
  double bytes = 0;       ///< a second, each way
  double meetSeconds = 0; ///< of a collective of a few bytes
};
Result<LinkRates> measureLink();

/// The disk of the folder for temporary files (TMPDIR), past the page cache where it can.
struct DiskRates {
  double readBytes = 0, writeBytes = 0; ///< a second
  double accessSeconds = 0;             ///< of a transfer of a few bytes
};
Result<DiskRates> measureDisk();

/// Seconds that each transfer to or from that disk takes from steps of a verified plan of one rank beside it.
Result<double> measureComputeOfTransfers(const fb::Plan &plan);

/// "AMD EPYC 9R14, 2 threads".
std::string describeThisCpu();

} // namespace trainc
