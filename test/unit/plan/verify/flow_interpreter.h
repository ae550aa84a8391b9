// A bytewise interpreter of entries, which tests the properties that the verifier proves.
#pragma once

#include "plan/schema/plan_generated.h"

namespace trainc::test {

/// Whether, on the rank, every read finds the matching write, no write is
/// redundant, the arguments of each launch are disjoint or aliased as its kernel allows, and offloaded states
/// are transferred completely. Executes the entry instruction by instruction, in all iterations.
bool isSound(const fb::PlanT &plan, const fb::EntryT &entry, uint32_t rank);

/// Whether all entries are sound on all ranks, and copies between spaces are those that buffers name.
bool isSound(const fb::PlanT &plan);

/// How many instructions isSound(plan) runs.
uint64_t soundnessSteps(const fb::PlanT &plan);

} // namespace trainc::test
