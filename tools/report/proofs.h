// Properties that the verifier has proven for a plan, with counts.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::report {

/// A proven statement, and the number of things it holds for.
struct Proof {
  uint64_t count;
  std::string subject;   ///< "instructions"
  std::string statement; ///< "stay within their buffers ..."
};

/// Proofs of a verified plan.
std::vector<Proof> proofsOf(const fb::Plan &plan);

} // namespace trainc::report
