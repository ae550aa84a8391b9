// What a rank's memory must hold while it runs a plan.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <optional>

namespace trainc {

/// Bytes of one rank's arenas.
struct ArenaBytes {
  uint64_t arenas = 0; ///< that a memory limit is about: trainrun allocates exactly these
  uint64_t host = 0;   ///< of a GPU's plan: of the host's arenas
  uint64_t disk = 0;
};

/// Bytes of one rank.
struct MemoryNeed : ArenaBytes {
  /// What a process takes besides, at most; none where the compile report that the plan holds does not say:
  /// nobody verifies that.
  std::optional<uint64_t> besides;

  /// What a memory limit is compared with; the largest number if there is none as large.
  uint64_t together() const {
    const uint64_t rest = besides.value_or(0);
    return rest > UINT64_MAX - arenas ? UINT64_MAX : arenas + rest;
  }
};

ArenaBytes arenaBytesOf(const fb::Plan &plan);

/// Reads the compile report, too.
MemoryNeed memoryNeedOf(const fb::Plan &plan);

/// The bytes that the plan was compiled to fit into (--memory-limit); none without a limit.
std::optional<uint64_t> memoryLimitOf(const fb::Plan &plan);

/// Whether a memory limit is about an arena: one of the device, and where the device is the CPU also one of
/// the host.
bool isLimited(const fb::Plan &plan, const fb::Arena &arena);

} // namespace trainc
