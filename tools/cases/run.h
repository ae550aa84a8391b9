// Runs cases on a device.
#pragma once

#include "runtime/device/device.h"
#include "tools/cases/cases.h"

#include <memory>

namespace trainc::cases {

/// Runs the plan once and gives the error of each case. Fails where the device does, and (kInvalidInput)
/// where the plan does not hold what the cases need.
Result<std::vector<double>> run(const fb::Plan &plan, Device &device, std::span<const Case> cases);

/// The first GPU, as trainrun opens it. Fails where there is none, or no driver, or where this program was
/// built without CUDA's headers.
Result<std::unique_ptr<Device>> openGpu();

} // namespace trainc::cases
