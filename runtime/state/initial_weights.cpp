#include "runtime/state/initial_weights.h"

#include "runtime/state/tensor_match.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace trainc {

namespace {

/// What Hugging Face's *ForCausalLM classes put before the names of the base model.
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

} // namespace

Status loadInitialWeights(const WeightFiles &weights, std::span<const StateTensor> parameters,
                          unsigned threads, const FileChecksums &recorded) {
  const auto lookup = [&](const std::string &name) { return findWithPrefixes(weights, name); };
  TensorMatch match = matchTensors(weights.files(), parameters, lookup, isIgnored);
  TRAINC_RETURN_IF_ERROR(
      match.status(fmt::format("--init={}: the weights do not fit this plan", weights.path())));
  addChecksums(recorded, match.transfers);
  if (const auto damaged = transferTensors(match.transfers, threads)) {
    const SafetensorsTensor &tensor = *match.transfers[*damaged].source;
    return invalidInput("--init={}: byte {}: tensor '{}' does not have the checksum that the checkpoint "
                        "records; it is damaged, use another one",
                        weights.path(), tensor.fileOffset, tensor.name);
  }
  return {};
}

} // namespace trainc
