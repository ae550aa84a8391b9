// Engines, heuristics, and workspace sizes.
#pragma once

#include "test/emulator/libcudnn/graph.h"

#include <utility>

namespace trainc::emulator {

using Knob = std::pair<cudnnBackendKnobType_t, int64_t>;

struct Engine {
  int64_t index = 0;
  std::vector<Knob> knobs = {};
  bool repeatsBits = true;
  bool runs = true; ///< false: listed by the heuristics, but fails to build
  int64_t workspace = 0;
};

/// Engines that the heuristics return for a graph, best first. Some fail to build, are nondeterministic, or
/// need much memory.
std::vector<Engine> enginesFor(const OperationGraph &graph, cudnnBackendHeurMode_t mode, int major);

/// Context in which engines run.
struct EngineContext {
  int major = 0;      ///< of the GPU's compute capability
  size_t version = 0; ///< of the library
};

/// The engine that a user requests; nothing if the index is invalid.
std::optional<Engine> engineOf(const OperationGraph &graph, int64_t index, const std::vector<Knob> &knobs,
                               const EngineContext &context);

} // namespace trainc::emulator
