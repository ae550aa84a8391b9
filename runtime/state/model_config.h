// A model's config.json in Hugging Face's form, which identifies the model that weights belong to.
#pragma once

#include "base/status.h"

#include <filesystem>
#include <string_view>

namespace trainc {

inline constexpr const char *kConfigFile = "config.json";

/// Open questions of a comparison; either text may be empty.
struct ConfigRemarks {
  std::string note = {};    ///< keys that the file beside the weights lacks, or that nothing is compared
  std::string warning = {}; ///< keys of that file that the plan lacks, with values that may change the math
};

/// Compares the config.json of weights in `folder`, if there is one, with `own`, the text of the config.json
/// that a plan writes beside its checkpoints. Fails with kInvalidInput if a key differs that changes what the
/// same weights compute, such as the number of heads; the error lists all such keys with both values. Ignores
/// keys whose difference shows in shapes or names of tensors, such as the width, and keys that do not change
/// what a model computes. If a file lacks a key, its value is Hugging Face's default, if known.
Result<ConfigRemarks> compareConfigs(std::string_view own, const std::filesystem::path &folder);

/// Does the same for the GGUF file `path`. `metadata` is its metadata in the form of a config.json
/// (gguf_config.h). Compares only keys that `metadata` has: the values of other keys are unknown.
Result<ConfigRemarks> compareGgufConfig(std::string_view own, const std::filesystem::path &path,
                                        std::string_view metadata);

/// Fails (kInvalidInput) unless the configuration that a GGUF file has (`metadata`, by wholeConfigOf()) makes
/// a model compute the same as `config`, the text of the config.json in the file `path`. The error lists the
/// keys that GGUF cannot represent. `hasRotaryFactors`: whether a tensor scales rotary frequencies.
Status requireSaidByGguf(const std::filesystem::path &path, std::string_view config,
                         std::string_view metadata, bool hasRotaryFactors);

} // namespace trainc
