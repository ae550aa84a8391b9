// Engines, what the heuristics name, and the memory that they want.
#pragma once

#include "test/emulator/libcudnn/graph.h"

#include <utility>

namespace trainc::emulator {

using Knob = std::pair<cudnnBackendKnobType_t, int64_t>;

struct Engine {
  int64_t index = 0;
  std::vector<Knob> knobs = {};
  bool repeatsBits = true;
  bool runs = true; ///< else the heuristics name it, and no plan can be made of it
  int64_t workspace = 0;
};

/// What the heuristics name for a graph, the best first. Not all of it can run, repeats its bits, or does
/// with little memory.
std::vector<Engine> enginesFor(const OperationGraph &graph, cudnnBackendHeurMode_t mode, int major);

/// Where engines run.
struct Surroundings {
  int major = 0;      ///< of the GPU's compute capability
  size_t version = 0; ///< of the library
};

/// An engine that a user names; none with the index.
std::optional<Engine> engineOf(const OperationGraph &graph, int64_t index, const std::vector<Knob> &knobs,
                               const Surroundings &around);

} // namespace trainc::emulator
