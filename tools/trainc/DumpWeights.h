// Files of weights as text: `trainc dump`.
#pragma once

#include "base/status.h"

#include <filesystem>
#include <string>

namespace trainc {

/// Whether `path` is a GGUF file by its first bytes, or a safetensors file by its name.
bool isWeightFile(const std::filesystem::path &path);

/// The metadata and the tensors of a file of weights, one a line: name, type, shape, and for a GGUF file the
/// name under which trainrun --init takes the tensor. Fails with kInvalidInput if the file is damaged.
Result<std::string> weightsText(const std::filesystem::path &path);

} // namespace trainc
