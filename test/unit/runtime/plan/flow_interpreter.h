// An interpreter of what entries do to single bytes: what the verifier proves, by trying it.
#pragma once

#include "runtime/schema/plan_generated.h"

namespace trainc::test {

/// Whether on the rank with a place in its shard group every read finds what was written for it, nothing is
/// written in vain, and the arguments of each launch are apart, or the same as its kernel allows; and whether
/// states outside the device's memory are moved whole. The entry is run instruction by instruction in its
/// order, in all iterations.
bool isSound(const fb::PlanT &plan, const fb::EntryT &entry, uint32_t place);

/// Whether all entries are, at all places, and copies between spaces are those that buffers say.
bool isSound(const fb::PlanT &plan);

/// How many instructions isSound(plan) runs.
uint64_t soundnessSteps(const fb::PlanT &plan);

} // namespace trainc::test
