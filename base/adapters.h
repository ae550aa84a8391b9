// Names and scale of low-rank adapters (LoRA), as in PEFT, for the compiler and the runtime.
#pragma once

#include <cmath>
#include <string_view>

namespace trainc {

/// PEFT's file that says what an adapter's tensors compute.
inline constexpr const char *kAdapterConfigFile = "adapter_config.json";
/// Ends of the names of an adapter's matrices, after the path of their layer.
inline constexpr std::string_view kAdapterA = ".lora_A.weight", kAdapterB = ".lora_B.weight";

/// Factor of the product of both matrices: alpha / rank or, with `rootOfRank` (rsLoRA), alpha / sqrt(rank).
inline double adapterScale(double alpha, double rank, bool rootOfRank) {
  return alpha / (rootOfRank ? std::sqrt(rank) : rank);
}

} // namespace trainc
