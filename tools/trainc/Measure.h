// What this machine reaches: kernels of plans, the exchange between ranks, the disk. Free of MLIR.
#pragma once

#include "runtime/base/status.h"
#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <string>

namespace trainc {

/// What kernels of one plan reach on all threads, by a profile; 0 where the plan has none of a kind.
struct KernelRates {
  double productFlops = 0, attentionFlops = 0; ///< a second
  double bytes = 0;                            ///< a second, of kernels that move a MiB and more
  double launchSeconds = 0;                    ///< the median of kernels that move little
  double seconds = 0;                          ///< that were measured
};

/// Runs a verified plan of one rank on this CPU: its training step once to warm up, then `steps` times.
Result<KernelRates> measureKernels(const fb::Plan &plan, uint32_t steps);

/// What two ranks of this host exchange.
struct LinkRates {
  double bytes = 0;       ///< a second, each way
  double meetSeconds = 0; ///< of a collective of a few bytes
};
Result<LinkRates> measureLink();

/// The disk of the folder for temporary files (TMPDIR), past the page cache where it can.
struct DiskRates {
  double readBytes = 0, writeBytes = 0; ///< a second
};
Result<DiskRates> measureDisk();

/// "AMD EPYC 9R14, 2 threads".
std::string describeThisCpu();

} // namespace trainc
