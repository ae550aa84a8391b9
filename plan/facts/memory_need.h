// Memory that a rank needs to run a plan.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <optional>

namespace trainc {

/// Bytes of one rank's arenas.
struct ArenaBytes {
  uint64_t arenas = 0; ///< subject to the memory limit: exactly the bytes that trainrun allocates
  uint64_t host = 0;   ///< in GPU plans: bytes of host arenas
  uint64_t disk = 0;
};

/// Bytes of one rank.
struct MemoryNeed : ArenaBytes {
  /// Upper bound of further bytes of the process; nothing if the compile report in the plan, which is not
  /// verified, does not say.
  std::optional<uint64_t> besides;

  /// The sum that a memory limit is compared with; saturates.
  uint64_t together() const {
    const uint64_t rest = besides.value_or(0);
    return rest > UINT64_MAX - arenas ? UINT64_MAX : arenas + rest;
  }
};

ArenaBytes arenaBytesOf(const fb::Plan &plan);

/// Uses the plan and its compile report.
MemoryNeed memoryNeedOf(const fb::Plan &plan);

/// Memory limit of the compilation (--memory-limit) in bytes; nothing without a limit.
std::optional<uint64_t> memoryLimitOf(const fb::Plan &plan);

/// Whether the memory limit applies to an arena: those of the device and, if the device is the CPU, those of
/// the host.
bool isLimited(const fb::Plan &plan, const fb::Arena &arena);

} // namespace trainc
