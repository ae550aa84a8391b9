// The kernels of one plan, loaded into the process.
#pragma once

#include "plan/schema/plan_generated.h"
#include "runtime/device/cpu/kernel_image.h"

#include <vector>

namespace trainc {

/// CPU kernels of a plan, from the object of the highest level that this CPU supports. For a GPU plan, its
/// host kernels.
class KernelLibrary {
public:
  /// `plan` must outlive the library. Fails with kInvalidInput if no object runs on this CPU, naming the
  /// missing features, or if a kernel is missing from the object, naming its symbol.
  static Result<KernelLibrary> load(const fb::Plan &plan);

  /// Description of the kernel, plan.kernels[index].
  const fb::Kernel &about(uint32_t index) const { return *plan_->kernels()->Get(index); }
  /// Whether the kernel is for CPUs.
  bool holds(uint32_t index) const { return functions_[index] != nullptr; }
  /// Function of the kernel.
  KernelFunction kernel(uint32_t index) const { return functions_[index]; }
  /// Level in use, e.g. "x86-64-v4"; empty if the plan has no CPU kernels.
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
