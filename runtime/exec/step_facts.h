// What an instruction does, for those who measure it.
#pragma once

#include "runtime/device/device.h"

#include <optional>
#include <string>

namespace trainc {

/// What rows of a profile can be summed by.
enum class ProfileKind { Gemm, Attention, Kernel, Move, Communication };

/// "products", "attention", "kernels", "moves", "communication".
const char *profileKindName(ProfileKind kind);

struct StepFacts {
  ProfileKind kind = ProfileKind::Move;
  std::string what;   ///< "rows_5f3a", "gemm_1024x2304x768_nn_07c1", "matrix product", "copy", "zero",
                      ///< "all-gather"; where the host starts collectives, "start all-gather"
  std::string source; ///< the op it came from, and its line
  double flops = 0;   ///< 0 where unknown
  double bytes = 0;   ///< read and written, each argument counted once a use; none for collectives
  double DeviceRates::*flopsRate = &DeviceRates::f32Flops; ///< what bounds the flops

  /// The least seconds that a device of these rates takes; nothing where a rate is not known that matters.
  std::optional<double> leastSeconds(const DeviceRates &rates) const;
};

StepFacts factsOf(const fb::Plan &plan, const Step &step);

/// "wait for all-gather".
std::string waitName(const Step &collective);

} // namespace trainc
