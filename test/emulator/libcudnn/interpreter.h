// Execution of a graph on the device.
#pragma once

#include "test/emulator/libcudnn/graph.h"

namespace trainc::emulator {

/// Device addresses of a graph's tensors, and host scalars, by id.
struct Arguments {
  std::map<int64_t, uint64_t> addresses;
  std::map<int64_t, float> numbers;
};

/// Executes all nodes in order: elements in f32, rounded to the tensor's type, sums in index order. Fails if
/// memory is not live, or if a byte that it reads was never written.
std::optional<std::string> interpret(const OperationGraph &graph, const Arguments &arguments);

} // namespace trainc::emulator
