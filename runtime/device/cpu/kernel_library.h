// The machine code of one plan object, loaded into the process.
#pragma once

#include "runtime/base/status.h"
#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace trainc {

/// A generated kernel: runs tiles [begin, end) of its grid.
using KernelFunction = void (*)(void *const *args, int64_t begin, int64_t end);

/// The kernels of a plan, from the object of the highest level that this CPU can run.
class KernelLibrary {
public:
  /// Fails (kInvalidInput) with the names of the missing CPU features when no object can run here, and with
  /// the symbol when a kernel is not in the object.
  static Result<KernelLibrary> load(const fb::Plan &plan);

  /// kernel(i) is the function of plan.kernels[i].
  KernelFunction kernel(uint32_t index) const { return functions_[index]; }
  /// The level in use, e.g. "x86-64-v4"; empty when the plan has no kernels.
  const std::string &level() const { return level_; }

private:
  struct Close {
    void operator()(void *handle) const;
  };

  std::string level_;
  std::unique_ptr<void, Close> handle_;
  std::vector<KernelFunction> functions_;
};

} // namespace trainc
