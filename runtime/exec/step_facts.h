// Properties of an instruction for measurements.
#pragma once

#include "runtime/device/device.h"

#include <optional>
#include <string>

namespace trainc {

/// Categories by which rows of a profile are summed.
enum class ProfileKind { Gemm, Attention, Kernel, Move, Communication };

/// "products", "attention", "kernels", "moves", "communication".
const char *profileKindName(ProfileKind kind);

struct StepFacts {
  ProfileKind kind = ProfileKind::Move;
  std::string what;   ///< "rows_5f3a", "gemm_1024x2304x768_nn_07c1", "matrix product", "copy", "zero",
                      ///< "copy from disk to device", "all-gather"
  std::string source; ///< source op and its line
  double flops = 0;   ///< 0 if unknown
  double bytes = 0;   ///< bytes read and written, each argument once per use (compulsoryBytes()), within one
                      ///< memory space; copies between spaces count once, collectives not at all
  double DeviceRates::*flopsRate = &DeviceRates::f32Flops; ///< rate that bounds the FLOPs
  bool isBoundByRates = true;  ///< not for collectives, copies between memory spaces and host kernels
  double predictedSeconds = 0; ///< as predicted in the plan; 0 if unknown

  /// Lower bound of the time on a device of these rates; nothing if a needed rate is unknown.
  std::optional<double> minSeconds(const DeviceRates &rates) const;
};

StepFacts factsOf(const fb::Plan &plan, const Step &step);

/// "wait for all-gather", "wait for the disk".
std::string waitName(const Step &waitedFor);

} // namespace trainc
