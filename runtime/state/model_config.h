// A model's config.json in Hugging Face's form: which model weights are of.
#pragma once

#include "runtime/base/status.h"

#include <filesystem>
#include <string_view>

namespace trainc {

inline constexpr const char *kConfigFile = "config.json";

/// Compares the config.json of weights in `folder`, if there is one, with `own`, the text of the one that a
/// plan writes beside its checkpoints. Shapes and names of tensors tell some differences, such as that of the
/// width, and those are not looked for. Others, such as that of the number of heads, change what the same
/// weights compute: an error (kInvalidInput) lists them, with both values. A key that one file lacks has the
/// value that Hugging Face takes for it, if that is known. Keys that do not change what a model computes are
/// passed over.
Status compareConfigs(std::string_view own, const std::filesystem::path &folder);

} // namespace trainc
