// Names of tensors in adapters (LoRA), in plans and in PEFT's files.
#pragma once

#include "base/adapters.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Prefix of all names in PEFT's files.
inline constexpr std::string_view kAdapterPrefix = "base_model.model.";
/// PEFT's file of an adapter's tensors.
inline constexpr const char *kAdapterFile = "adapter_model.safetensors";

/// Whether the name is that of an adapter's matrix, in a plan or in a file.
bool isAdapterName(std::string_view name);

/// Names that PEFT's files may have for a parameter: kAdapterPrefix before its name or before one of
/// otherNames().
std::vector<std::string> adapterFileNames(const std::string &name);

} // namespace trainc
