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
                      ///< "copy from disk to device", "all-gather"
  std::string source; ///< the op it came from, and its line
  double flops = 0;   ///< 0 where unknown
  double bytes = 0;   ///< read and written, each argument counted once a use, of memory of one kind: once
                      ///< where copies lead from one to another; none for collectives
  double DeviceRates::*flopsRate = &DeviceRates::f32Flops; ///< what bounds the flops
  bool isBoundByRates =
      true; ///< not so collectives, copies from one kind of memory to another, kernels of the host
  double predictedSeconds = 0; ///< as the plan says; 0 where unknown

  /// The least seconds that a device of these rates takes; nothing where what matters is not known of it.
  std::optional<double> leastSeconds(const DeviceRates &rates) const;
};

StepFacts factsOf(const fb::Plan &plan, const Step &step);

/// "wait for all-gather", "wait for the disk".
std::string waitName(const Step &waitedFor);

} // namespace trainc
