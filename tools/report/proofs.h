// What the verifier has proven of a plan that it let pass, with how often.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::report {

/// A statement that holds, and of how many things it does.
struct Proof {
  uint64_t count;
  std::string of;        ///< "instructions"
  std::string statement; ///< "stay within their buffers ..."
};

/// Of a verified plan.
std::vector<Proof> proofsOf(const fb::Plan &plan);

} // namespace trainc::report
