// What the device does when a graph's turn comes.
#pragma once

#include "test/emulator/libcudnn/graph.h"

namespace trainc::emulator {

/// Places of a graph's tensors in device memory, and its numbers, by their ids.
struct Arguments {
  std::map<int64_t, uint64_t> addresses;
  std::map<int64_t, float> numbers;
};

/// Runs all nodes in their order: each element in f32, rounded to its tensor's type, sums in the order of
/// what is summed. Fails where memory is not live, or where what it reads was never written.
std::optional<std::string> interpret(const OperationGraph &graph, const Arguments &arguments);

} // namespace trainc::emulator
