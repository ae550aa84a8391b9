// The kernels of one plan, loaded into the process.
#pragma once

#include "runtime/device/cpu/kernel_image.h"
#include "runtime/schema/plan_generated.h"

#include <vector>

namespace trainc {

/// The kernels of a plan, from the object of the highest level that this CPU can run. Of a plan for GPUs
/// those of the host.
class KernelLibrary {
public:
  /// `plan` must outlive the library. Fails (kInvalidInput) with the names of the missing CPU features when
  /// no object can run here, and with the symbol when a kernel is not in the object.
  static Result<KernelLibrary> load(const fb::Plan &plan);

  /// plan.kernels[index].
  const fb::Kernel &about(uint32_t index) const { return *plan_->kernels()->Get(index); }
  /// Whether it is one for CPUs.
  bool holds(uint32_t index) const { return functions_[index] != nullptr; }
  /// Its function.
  KernelFunction kernel(uint32_t index) const { return functions_[index]; }
  /// The level in use, e.g. "x86-64-v4"; empty when the plan has no kernels for CPUs.
  const std::string &level() const { return level_; }
  /// See Device::arithmetic().
  const std::string &arithmetic() const { return arithmetic_; }

private:
  const fb::Plan *plan_ = nullptr;
  std::string level_, arithmetic_;
  KernelImage image_;
  std::vector<KernelFunction> functions_;
};

} // namespace trainc
