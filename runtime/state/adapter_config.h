// PEFT's adapter_config.json: what the tensors of an adapter compute.
#pragma once

#include "base/adapters.h"
#include "base/status.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// An adapter's settings.
struct AdapterConfig {
  nlohmann::json json; ///< the whole file
  uint64_t rank = 0;
  double alpha = 0;
  bool rootOfRank = false;        ///< whether alpha is divided by the square root of the rank
  bool isInOut = false;           ///< whether weights are [in, out]
  std::vector<std::string> saved; ///< layers that were trained without an adapter

  /// Factor of the product of both matrices.
  double scale() const { return adapterScale(alpha, static_cast<double>(rank), rootOfRank); }
  /// Whether the embedding of tokens is among the layers that were trained without an adapter.
  bool savesEmbedding() const;
};

/// The first class in the content of a config.json; empty if it names none.
std::string firstClassOf(const nlohmann::json &config);

/// Whether the class in a config.json has a head for which there is no weight among `parameters`, so that the
/// head is the embedding.
bool hasTiedHead(const nlohmann::json &config, const std::vector<std::string> &parameters);

/// Reads the text of the file `path`. Fails with kInvalidInput if it is malformed, or of an adapter that
/// computes something else than LoRA with one rank and one scale, such as DoRA.
Result<AdapterConfig> parseAdapterConfig(const std::filesystem::path &path, std::string_view text);

/// Reads the adapter_config.json in `folder`; nothing if there is none.
Result<std::optional<AdapterConfig>> readAdapterConfig(const std::filesystem::path &folder);

/// Fails with kInvalidInput if the folder of weights has an adapter of PEFT with an embedding of its own, and
/// the plan with the config.json `own` uses its embedding for the head, too, for which PEFT's adapter has not
/// trained it.
Status checkTiedEmbedding(std::string_view own, const std::vector<std::string> &parameters,
                          const std::filesystem::path &folder);

/// Compares the adapter_config.json in the folder of weights, if there is one, with `own`, the text of the
/// one that the plan writes beside its checkpoints. Fails with kInvalidInput if the adapters have another
/// rank or scale than the plan's. If `own` is empty, the plan has no adapters, and nothing is compared: their
/// tensors have no partner.
Status compareAdapterConfigs(std::string_view own, const std::filesystem::path &folder);

} // namespace trainc
