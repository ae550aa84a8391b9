// Names of tensors in adapters (LoRA), in plans and in PEFT's files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Prefix of all names in PEFT's files.
inline constexpr std::string_view kAdapterPrefix = "base_model.model.";
/// PEFT's file of an adapter's tensors.
inline constexpr const char *kAdapterFile = "adapter_model.safetensors";
/// Ends of the names of an adapter's matrices, after the path of their layer.
inline constexpr std::string_view kAdapterA = ".lora_A.weight", kAdapterB = ".lora_B.weight";

/// Whether the name is that of an adapter's matrix, in a plan or in a file.
bool isAdapterName(std::string_view name);

/// Names that PEFT's files may have for a parameter: kAdapterPrefix before its name or before one of
/// otherNames().
std::vector<std::string> adapterFileNames(const std::string &name);

} // namespace trainc
