// Bytes of a plan's arenas by purpose.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <string_view>

namespace trainc {

/// Bytes of a space per rank, by purpose. All of a scratch arena counts as activations.
struct BytesByKind {
  int64_t parameters = 0, gradients = 0, optimizer = 0, activations = 0;
  int64_t workspace = 0; ///< everything else, and gaps between buffers

  int64_t states() const { return parameters + gradients + optimizer; }
  int64_t total() const { return states() + activations + workspace; }
};

struct MemoryKind {
  std::string_view key, name; ///< for programs and for people
  int64_t BytesByKind::*bytes;
};
inline constexpr MemoryKind kMemoryKinds[] = {{"parameters", "parameters", &BytesByKind::parameters},
                                              {"gradients", "gradients", &BytesByKind::gradients},
                                              {"optimizer", "optimizer states", &BytesByKind::optimizer},
                                              {"activations", "activations", &BytesByKind::activations},
                                              {"workspace", "workspace", &BytesByKind::workspace}};

/// Bytes of the plan's arenas in a space. Their total is the size of these arenas.
BytesByKind memoryByKind(const fb::Plan &plan, fb::Space space);

/// Bytes of the arenas in memory: the sum of device and host.
BytesByKind memoryByKind(const fb::Plan &plan);

} // namespace trainc
