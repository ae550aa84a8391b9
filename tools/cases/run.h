// Execution of test cases on a device.
#pragma once

#include "runtime/device/device.h"
#include "tools/cases/cases.h"

#include <memory>

namespace trainc::cases {

/// Runs the plan once and returns the error of each case. Fails if the device does, and with kInvalidInput if
/// the plan lacks states of a case.
Result<std::vector<double>> run(const fb::Plan &plan, Device &device, std::span<const Case> cases);

/// Opens the default device of the plan's target like trainrun. Fails like openDevice().
Result<std::unique_ptr<Device>> openDeviceOf(const fb::Plan &plan);

} // namespace trainc::cases
