// Serialisation of the plan dialect to the plan file's FlatBuffer.
#pragma once

#include "lib/Plan/EmittedPlan.h"
#include "plan/cost/machine.h"

#include <string>
#include <vector>

namespace trainc {

/// Machine code of all kernels for one instruction-set level; see Object in plan.fbs.
struct KernelObject {
  std::string level;
  std::vector<std::string> features;
  std::vector<uint8_t> image;
};

/// Serialises `plan`, the tables of a module of phase `plan`, which are emitted as `emitted`. `name` is the
/// plan's name, `target` its kind of device, `machine` the machine for predictions, `report` the compile
/// report as JSON.
std::vector<uint8_t> serializePlan(fb::PlanT plan, const EmittedPlan &emitted, llvm::StringRef name,
                                   llvm::StringRef target, const Machine &machine,
                                   std::vector<KernelObject> objects, llvm::StringRef report);

} // namespace trainc
