// An interpreter of what entries do to single bytes: what verify_flow.cpp proves, by trying it.
#pragma once

#include "runtime/schema/plan_generated.h"

namespace trainc::test {

/// Whether on the rank with a place in its shard group every read finds what was written for it, and nothing
/// is written in vain. For entries of small plans without collectives, which it runs byte by byte, iteration
/// by iteration.
bool isSound(const fb::PlanT &plan, const fb::EntryT &entry, uint32_t place);

} // namespace trainc::test
