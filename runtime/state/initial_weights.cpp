#include "runtime/state/initial_weights.h"

#include "base/name_pattern.h"
#include "runtime/state/tensor_transfer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>
#include <set>

namespace trainc {

namespace {

/// Prefixes that Hugging Face's *ForCausalLM classes put before the names of the base model.
constexpr std::array<std::string_view, 2> kPrefixes = {"transformer.", "model."};
/// Hugging Face's name for the weight of the last layer, which may be that of the embedding (tied).
constexpr std::string_view kHead = "lm_head.weight";

// --- Patterns ---

bool matchesAny(const std::vector<std::string> &patterns, const std::string &name) {
  return std::ranges::any_of(patterns,
                             [&](const std::string &pattern) { return matchesPattern(pattern, name); });
}

/// Returns the first pattern that matches none of the names.
template <typename Names>
std::optional<std::string> idlePattern(const std::vector<std::string> &patterns, const Names &names) {
  for (const std::string &pattern : patterns)
    if (std::ranges::none_of(names, [&](const std::string &name) { return matchesPattern(pattern, name); }))
      return pattern;
  return std::nullopt;
}

/// All tensors, in the order of the files.
std::vector<const SafetensorsTensor *> tensorsOf(const WeightFiles &weights) {
  std::vector<const SafetensorsTensor *> tensors;
  for (const SafetensorsView &file : weights.files())
    for (const SafetensorsTensor &tensor : file.tensors())
      tensors.push_back(&tensor);
  return tensors;
}

Status checkPatterns(const InitialWeightsOptions &options, const WeightFiles &weights,
                     std::span<const StateTensor> parameters) {
  if (const auto idle = idlePattern(options.missing, parameters | std::views::transform(&StateTensor::name)))
    return invalidInput(
        "--init-missing={}: no parameter of the plan has such a name; `*` stands for any text", *idle);
  const auto names = [](const SafetensorsTensor *tensor) -> const std::string & { return tensor->name; };
  if (const auto idle = idlePattern(options.ignored, tensorsOf(weights) | std::views::transform(names)))
    return invalidInput("--init-ignore={}: no tensor of {} has such a name; `*` stands for any text", *idle,
                        weights.path());
  return {};
}

// --- Pairs ---

/// Tensors of the files by the names of their parameters.
using Pairs = std::map<std::string, const SafetensorsTensor *>;

using Tensors = std::set<const SafetensorsTensor *>;

/// Names that have one prefix more than `name`, or one less.
std::vector<std::string> otherNames(const std::string &name) {
  std::vector<std::string> names;
  for (const std::string_view prefix : kPrefixes) {
    names.push_back(std::string(prefix) + name);
    if (name.starts_with(prefix))
      names.push_back(name.substr(prefix.size()));
  }
  return names;
}

/// Returns the one tensor outside `taken` whose name differs from the parameter's `name` by a prefix; null if
/// there is none. `owners` maps each tensor that was found this way to its parameter.
Result<const SafetensorsTensor *> findByPrefix(const WeightFiles &weights, const std::string &name,
                                               const Tensors &taken,
                                               std::map<const SafetensorsTensor *, std::string> &owners) {
  const SafetensorsTensor *found = nullptr;
  for (const std::string &other : otherNames(name)) {
    const SafetensorsTensor *tensor = weights.find(other);
    if (!tensor || taken.contains(tensor))
      continue;
    if (found)
      return invalidInput("--init={}: tensors '{}' and '{}' could both be parameter '{}'; leave one out with "
                          "--init-ignore",
                          weights.path(), found->name, tensor->name, name);
    found = tensor;
  }
  if (!found)
    return found;
  if (const auto [owner, isNew] = owners.emplace(found, name); !isNew)
    return invalidInput(
        "--init={}: tensor '{}' could be parameter '{}' or '{}'; rename it, or leave it out with "
        "--init-ignore",
        weights.path(), found->name, owner->second, name);
  return found;
}

/// Pairs equal names first, so that no tensor with the name of one parameter is paired with another by a
/// prefix.
Result<Pairs> pairByName(const WeightFiles &weights, std::span<const StateTensor> parameters,
                         const Tensors &ignored) {
  Pairs pairs;
  Tensors taken = ignored;
  for (const StateTensor &parameter : parameters)
    if (const SafetensorsTensor *tensor = weights.find(parameter.name); tensor && !ignored.contains(tensor)) {
      pairs.emplace(parameter.name, tensor);
      taken.insert(tensor);
    }
  std::map<const SafetensorsTensor *, std::string> owners;
  for (const StateTensor &parameter : parameters) {
    if (pairs.contains(parameter.name))
      continue;
    TRAINC_ASSIGN_OR_RETURN(const SafetensorsTensor *tensor,
                            findByPrefix(weights, parameter.name, taken, owners));
    if (tensor)
      pairs.emplace(parameter.name, tensor);
  }
  return pairs;
}

// --- Leftovers ---

bool sameContent(const SafetensorsTensor &a, const SafetensorsTensor &b) {
  return a.dtype == b.dtype && a.shape == b.shape && std::ranges::equal(a.bytes, b.bytes);
}

/// Whether `name` is `end`, or ends with a dot and `end`.
bool endsWithName(std::string_view name, std::string_view end) {
  return name.ends_with(end) && (name.size() == end.size() || name[name.size() - end.size() - 1] == '.');
}

/// Whether Hugging Face's GPT-2 or Llama stores the tensor, but does not train it. Checks the shape as well
/// as the name, because a parameter with such a name has another shape.
bool isBuffer(const SafetensorsTensor &tensor, const Tensors &used) {
  const auto &shape = tensor.shape;
  if (endsWithName(tensor.name, "attn.bias"))
    return shape.size() == 4 && shape[0] == 1 && shape[1] == 1 && shape[2] == shape[3];
  if (endsWithName(tensor.name, "attn.masked_bias"))
    return shape.empty();
  if (endsWithName(tensor.name, "rotary_emb.inv_freq"))
    return shape.size() == 1;
  return tensor.name == kHead && std::ranges::any_of(used, [&](const SafetensorsTensor *other) {
           return sameContent(tensor, *other);
         });
}

/// Returns the value of an option that selects the `listed` names, which have the form "name: type", and none
/// of `paired`: the pattern of the first name's siblings if that is so, else all names.
std::string selectionOf(const std::vector<std::string> &listed, const std::set<std::string> &paired) {
  std::vector<std::string> names;
  for (const std::string &entry : listed)
    names.push_back(entry.substr(0, entry.rfind(": ")));
  const std::string pattern = names.front().substr(0, names.front().rfind('.') + 1) + "*";
  const bool isSafe =
      std::ranges::none_of(paired, [&](const std::string &name) { return matchesPattern(pattern, name); });
  return isSafe ? pattern : fmt::format("{}", fmt::join(names, ","));
}

/// Returns the embedding (of GPT-2 or Llama) that the plan also uses for its head, if the file's own `head`
/// is left over and no parameter is missing; null otherwise.
const SafetensorsTensor *tiedTensor(const TensorMatch &match, const SafetensorsTensor *head) {
  const bool isLeftOver = head && std::ranges::any_of(match.unexpected, [&](const std::string &entry) {
                            return entry.substr(0, entry.rfind(": ")) == head->name;
                          });
  if (!isLeftOver || !match.missing.empty())
    return nullptr;
  const auto tied = std::ranges::find_if(match.transfers, [&](const TensorTransfer &transfer) {
    const SafetensorsTensor &source = *transfer.source;
    return source.shape == head->shape &&
           (endsWithName(source.name, "wte.weight") || endsWithName(source.name, "embed_tokens.weight"));
  });
  return tied == match.transfers.end() ? nullptr : tied->source;
}

/// Advice if some tensors have a partner, but a part of the model or of the file, such as a head, has none.
/// `head` is the file's head, if the plan may have it tied; else null.
std::string adviceOn(const TensorMatch &match, const SafetensorsTensor *head) {
  if (match.transfers.empty())
    return "";
  if (const SafetensorsTensor *tied = tiedTensor(match, head))
    return fmt::format("; '{0}' is not equal to '{1}', so the weights are of a model with a head of its own: "
                       "give the model such a head, as one tied to '{1}' computes something else",
                       kHead, tied->name);
  std::set<std::string> parameters, tensors;
  for (const TensorTransfer &transfer : match.transfers) {
    parameters.insert(transfer.destination->name);
    tensors.insert(transfer.source->name);
  }
  std::string advice;
  if (!match.missing.empty())
    advice += fmt::format("; --init-missing='{}' draws such parameters anew",
                          selectionOf(match.missing, parameters));
  if (!match.unexpected.empty())
    advice +=
        fmt::format("; --init-ignore='{}' leaves such tensors out", selectionOf(match.unexpected, tensors));
  return advice;
}

Status refuse(const WeightFiles &weights, const TransferFault &fault) {
  const std::string what = fmt::format("--init={}: {}", weights.path(), fault.message());
  if (!fault.element)
    return invalidInput("{}; the checkpoint is damaged, use another one", what);
  const double value = fault.element->value;
  if (std::isfinite(value))
    return invalidInput("{}; {}", what,
                        std::abs(value) <= largestFinite(SafetensorsDType::kF32)
                            ? "use --param-type=f32 when compiling"
                            : "no run could have trained it: is the file damaged?");
  return invalidInput(
      "{}; the file is damaged, or of a run that diverged: use another one, or draw this parameter "
      "anew with --init-ignore='{}' --init-missing='{}'",
      what, fault.transfer->source->name, fault.transfer->destination->name);
}

} // namespace

Result<UnpairedWeights> loadInitialWeights(const WeightFiles &weights,
                                           std::span<const StateTensor> parameters, unsigned threads,
                                           const FileChecksums &recorded,
                                           const InitialWeightsOptions &options) {
  TRAINC_RETURN_IF_ERROR(checkPatterns(options, weights, parameters));
  UnpairedWeights unpaired;
  Tensors passedOver;
  for (const SafetensorsTensor *tensor : tensorsOf(weights))
    if (matchesAny(options.ignored, tensor->name)) {
      passedOver.insert(tensor);
      unpaired.ignored.push_back(tensor->name);
    }
  TRAINC_ASSIGN_OR_RETURN(const Pairs pairs, pairByName(weights, parameters, passedOver));
  const auto lookup = [&](const std::string &name) {
    const auto found = pairs.find(name);
    return found == pairs.end() ? nullptr : found->second;
  };
  std::vector<StateTensor> wanted;
  for (const StateTensor &parameter : parameters) {
    const SafetensorsTensor *found = lookup(parameter.name);
    if ((found && found->shape == parameter.shape) || !matchesAny(options.missing, parameter.name)) {
      wanted.push_back(parameter);
      continue;
    }
    unpaired.drawn.push_back(parameter.name);
    passedOver.insert(found);
  }
  const auto ignore = [&](const SafetensorsTensor &tensor, const Tensors &used) {
    const bool isNeedless = !passedOver.contains(&tensor) && isBuffer(tensor, used);
    if (isNeedless)
      unpaired.buffers.push_back(tensor.name);
    return isNeedless || passedOver.contains(&tensor);
  };
  TensorMatch match = matchTensors(weights.files(), wanted, lookup, ignore, Conversion::kRound);
  TRAINC_RETURN_IF_ERROR(
      match.status(fmt::format("--init={}: the weights do not fit this plan{}", weights.path(),
                               adviceOn(match, unpaired.drawn.empty() ? weights.find(kHead) : nullptr))));
  TRAINC_RETURN_IF_ERROR(addChecksums(recorded, match.transfers));
  TRAINC_ASSIGN_OR_RETURN(const auto fault, transferTensors(match.transfers, threads, Numbers::kFinite));
  TRAINC_RETURN_IF_ERROR(weights.check());
  if (fault)
    return refuse(weights, *fault);
  return unpaired;
}

} // namespace trainc
