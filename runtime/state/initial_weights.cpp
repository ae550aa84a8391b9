#include "runtime/state/initial_weights.h"

#include "runtime/schema/name_pattern.h"
#include "runtime/state/tensor_transfer.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace trainc {

namespace {

/// Prefixes that Hugging Face's *ForCausalLM classes add to the names of the base model.
constexpr std::array<std::string_view, 2> kPrefixes = {"transformer.", "model."};

/// Non-trained buffers of Hugging Face's GPT-2 and Llama, by the ends of their names.
constexpr std::array<std::string_view, 3> kBuffers = {".attn.bias", ".attn.masked_bias",
                                                      ".rotary_emb.inv_freq"};

const SafetensorsTensor *findWithPrefixes(const WeightFiles &weights, const std::string &name) {
  if (const SafetensorsTensor *exact = weights.find(name))
    return exact;
  for (const std::string_view prefix : kPrefixes) {
    if (const SafetensorsTensor *longer = weights.find(std::string(prefix) + name))
      return longer;
    if (name.starts_with(prefix))
      if (const SafetensorsTensor *shorter = weights.find(name.substr(prefix.size())))
        return shorter;
  }
  return nullptr;
}

bool sameContent(const SafetensorsTensor &a, const SafetensorsTensor &b) {
  return a.dtype == b.dtype && a.shape == b.shape && std::ranges::equal(a.bytes, b.bytes);
}

bool isIgnored(const SafetensorsTensor &tensor, const std::set<const SafetensorsTensor *> &used) {
  if (std::ranges::any_of(kBuffers, [&](std::string_view end) { return tensor.name.ends_with(end); }))
    return true;
  return tensor.name == "lm_head.weight" && std::ranges::any_of(used, [&](const SafetensorsTensor *other) {
           return sameContent(tensor, *other);
         });
}

bool matches(const std::string &pattern, const std::string &name) {
  return matchesPattern(pattern, name);
}

bool matchesAny(const std::vector<std::string> &patterns, const std::string &name) {
  return std::ranges::any_of(patterns, [&](const std::string &pattern) { return matches(pattern, name); });
}

Status checkPatterns(const std::vector<std::string> &patterns, std::span<const StateTensor> parameters) {
  for (const std::string &pattern : patterns)
    if (std::ranges::none_of(parameters,
                             [&](const StateTensor &each) { return matches(pattern, each.name); }))
      return invalidInput(
          "--init-missing={}: no parameter of the plan has such a name; `*` stands for any text", pattern);
  return {};
}

/// Advice if no tensor is left over: the model has a part that the weights lack, such as a new head.
std::string adviceOnMissing(const TensorMatch &match) {
  if (match.missing.empty() || !match.unexpected.empty())
    return "";
  const std::string &first = match.missing.front();
  const std::string name = first.substr(0, first.find(':'));
  return fmt::format("; --init-missing='{}*' draws such parameters anew",
                     name.substr(0, name.rfind('.') + 1));
}

} // namespace

Result<std::vector<std::string>> loadInitialWeights(const WeightFiles &weights,
                                                    std::span<const StateTensor> parameters, unsigned threads,
                                                    const FileChecksums &recorded,
                                                    const std::vector<std::string> &mayMiss) {
  TRAINC_RETURN_IF_ERROR(checkPatterns(mayMiss, parameters));
  const auto lookup = [&](const std::string &name) { return findWithPrefixes(weights, name); };
  std::vector<StateTensor> wanted;
  std::vector<std::string> kept;
  std::set<const SafetensorsTensor *> passedOver;
  for (const StateTensor &parameter : parameters) {
    const SafetensorsTensor *found = lookup(parameter.name);
    if ((found && found->shape == parameter.shape) || !matchesAny(mayMiss, parameter.name)) {
      wanted.push_back(parameter);
      continue;
    }
    kept.push_back(parameter.name);
    passedOver.insert(found);
  }
  const auto ignore = [&](const SafetensorsTensor &tensor, const std::set<const SafetensorsTensor *> &used) {
    return passedOver.contains(&tensor) || isIgnored(tensor, used);
  };
  TensorMatch match = matchTensors(weights.files(), wanted, lookup, ignore, Conversion::kRound);
  TRAINC_RETURN_IF_ERROR(match.status(
      fmt::format("--init={}: the weights do not fit this plan{}", weights.path(), adviceOnMissing(match))));
  TRAINC_RETURN_IF_ERROR(addChecksums(recorded, match.transfers));
  const auto damaged = transferTensors(match.transfers, threads);
  TRAINC_RETURN_IF_ERROR(weights.check());
  if (damaged.status().code() == StatusCode::kInvalidInput)
    return invalidInput("--init={}: {}", weights.path(), damaged.status().message());
  TRAINC_RETURN_IF_ERROR(damaged.status());
  if (*damaged) {
    const SafetensorsTensor &tensor = *match.transfers[**damaged].source;
    return invalidInput("--init={}: byte {}: tensor '{}' does not have the checksum that the checkpoint "
                        "records; it is damaged, use another one",
                        weights.path(), tensor.fileOffset, tensor.name);
  }
  return kept;
}

} // namespace trainc
