#include "runtime/state/initial_weights.h"

#include "base/name_pattern.h"
#include "runtime/formats/adapter_names.h"
#include "runtime/formats/hugging_face_names.h"
#include "runtime/state/tensor_transfer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <ranges>
#include <set>

namespace trainc {

namespace {

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

Status checkPatterns(const InitialWeightsOptions &options, const WeightFiles &weights,
                     std::span<const StateTensor> parameters) {
  if (const auto idle = idlePattern(options.missing, parameters | std::views::transform(&StateTensor::name)))
    return invalidInput(
        "--init-missing={}: no parameter of the plan has such a name; `*` stands for any text", *idle);
  if (const auto idle =
          idlePattern(options.ignored, weights.tensors() | std::views::transform(&WeightTensor::name)))
    return invalidInput("--init-ignore={}: no tensor of {} has such a name; `*` stands for any text", *idle,
                        weights.path());
  return {};
}

// --- Pairs ---

/// Tensors of the files by the names of their parameters.
using Pairs = std::map<std::string, const WeightTensor *>;

using Tensors = std::set<const WeightTensor *>;

/// Returns the one tensor outside `taken` whose name differs from the parameter's `name` by a prefix; null if
/// there is none. `owners` maps each tensor that was found this way to its parameter.
Result<const WeightTensor *> findByPrefix(const WeightFiles &weights, const std::string &name,
                                          const Tensors &taken,
                                          std::map<const WeightTensor *, std::string> &owners) {
  const WeightTensor *found = nullptr;
  for (const std::string &other : otherNames(name)) {
    const WeightTensor *tensor = weights.find(other);
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

/// Returns the tensor of an adapter's file for the parameter; null if there is none.
const WeightTensor *findInAdapter(const WeightFiles &weights, const std::string &name,
                                  const Tensors &ignored) {
  for (const std::string &other : adapterFileNames(name))
    if (const WeightTensor *tensor = weights.find(other); tensor && !ignored.contains(tensor))
      return tensor;
  return nullptr;
}

/// Returns the base model's own tensors for parameters that an adapter's file replaces.
std::vector<const WeightTensor *> replacedTensors(const WeightFiles &weights, const Pairs &pairs) {
  std::vector<const WeightTensor *> replaced;
  for (const auto &[name, tensor] : pairs) {
    if (!tensor->name.starts_with(kAdapterPrefix))
      continue;
    std::vector<std::string> names = otherNames(name);
    names.push_back(name);
    for (const std::string &other : names)
      if (const WeightTensor *own = weights.find(other); own && own != tensor)
        replaced.push_back(own);
  }
  return replaced;
}

/// Pairs tensors of an adapter's file first, which replace those of the base model, then equal names, so that
/// no tensor with the name of one parameter is paired with another by a prefix.
Result<Pairs> pairByName(const WeightFiles &weights, std::span<const StateTensor> parameters,
                         const Tensors &ignored) {
  Pairs pairs;
  Tensors taken = ignored;
  for (const StateTensor &parameter : parameters)
    if (const WeightTensor *tensor = findInAdapter(weights, parameter.name, ignored)) {
      pairs.emplace(parameter.name, tensor);
      taken.insert(tensor);
    }
  for (const StateTensor &parameter : parameters)
    if (const WeightTensor *tensor = weights.find(parameter.name);
        tensor && !taken.contains(tensor) && !pairs.contains(parameter.name)) {
      pairs.emplace(parameter.name, tensor);
      taken.insert(tensor);
    }
  std::map<const WeightTensor *, std::string> owners;
  for (const StateTensor &parameter : parameters) {
    if (pairs.contains(parameter.name))
      continue;
    TRAINC_ASSIGN_OR_RETURN(const WeightTensor *tensor, findByPrefix(weights, parameter.name, taken, owners));
    if (tensor)
      pairs.emplace(parameter.name, tensor);
  }
  return pairs;
}

// --- Leftovers ---

/// Whether a tensor of the file needs no parameter, because it is a buffer, is of the part that reads
/// pictures, or is a head that equals a tensor of `used`.
bool isNeedless(const WeightTensor &tensor, const Tensors &used) {
  return isStoredBuffer(tensor.name, tensor.shape) || isOfPictures(tensor.name) ||
         (isHeadName(tensor.name) &&
          std::ranges::any_of(used, [&](const WeightTensor *other) { return sameContent(tensor, *other); }));
}

/// Returns the name of an entry of the form "name: F32 [2, 3]".
std::string nameOf(const std::string &entry) { return entry.substr(0, entry.rfind(": ")); }

/// Returns patterns, as the value of an option, that select the names of all `listed` entries, and none of
/// `paired`. The pattern for a name is that of its siblings ("score.*") or, if this would select one of
/// `paired`, the name itself.
std::string selectionOf(const std::vector<std::string> &listed, const std::set<std::string> &paired) {
  std::vector<std::string> patterns;
  for (const std::string &entry : listed) {
    const std::string name = nameOf(entry);
    if (matchesAny(patterns, name))
      continue;
    const std::string siblings = name.substr(0, name.rfind('.') + 1) + "*";
    const bool isSafe = std::ranges::none_of(
        paired, [&](const std::string &other) { return matchesPattern(siblings, other); });
    patterns.push_back(isSafe ? siblings : name);
  }
  return fmt::format("{}", fmt::join(patterns, ","));
}

/// The shapes of the `listed` entries by their names, as "[2, 3]".
std::map<std::string, std::string> shapesOf(const std::vector<std::string> &listed) {
  std::map<std::string, std::string> shapes;
  for (const std::string &entry : listed)
    shapes[nameOf(entry)] = entry.substr(entry.rfind('['));
  return shapes;
}

/// The longest common suffix of two names that begins at a component (after a dot); empty if there is none.
std::string commonSuffix(const std::string &a, const std::string &b) {
  const auto [end, other] = std::ranges::mismatch(a | std::views::reverse, b | std::views::reverse);
  const size_t length = static_cast<size_t>(end - (a | std::views::reverse).begin());
  for (size_t at = a.size() - length; at < a.size(); ++at) {
    const size_t inB = b.size() - (a.size() - at);
    if ((at == 0 || a[at - 1] == '.') && (inB == 0 || b[inB - 1] == '.'))
      return a.substr(at);
  }
  return "";
}

/// The value of --rename that replaces one prefix by another, so that each missing parameter gets a tensor of
/// its shape that is left over; nothing if no prefixes do so.
std::optional<std::string> renameByPrefix(const TensorMatch &match) {
  const std::map<std::string, std::string> missing = shapesOf(match.missing);
  const std::map<std::string, std::string> left = shapesOf(match.unexpected);
  if (missing.empty())
    return std::nullopt;
  const std::string &first = missing.begin()->first;
  for (const std::string &other : left | std::views::keys) {
    const std::string end = commonSuffix(first, other);
    const std::string wanted = first.substr(0, first.size() - end.size()),
                      found = other.substr(0, other.size() - end.size());
    // One common component does not suffice: almost all names end in "weight" or "bias".
    const bool fits =
        end.find('.') != std::string::npos && std::ranges::all_of(missing, [&](const auto &parameter) {
          const auto &[name, shape] = parameter;
          if (!name.starts_with(wanted))
            return false;
          const auto tensor = left.find(found + name.substr(wanted.size()));
          return tensor != left.end() && tensor->second == shape;
        });
    const bool isSafe = std::ranges::none_of(
        match.transfers, [&](const TensorTransfer &each) { return each.source->name.starts_with(found); });
    if (fits && isSafe)
      return fmt::format("{}*={}*", found, wanted);
  }
  return std::nullopt;
}

/// Returns the weight of the file's head; null if it has none.
const WeightTensor *headOf(const WeightFiles &weights) {
  for (const WeightTensor &tensor : weights.tensors())
    if (isHeadName(tensor.name) && tensor.name.ends_with(".weight"))
      return &tensor;
  return nullptr;
}

/// Returns the embedding that the plan also uses for its head, if the file's own `head`
/// is left over and no parameter is missing; null otherwise.
const WeightTensor *tiedTensor(const TensorMatch &match, const WeightTensor *head) {
  const bool isLeftOver = head && std::ranges::any_of(match.unexpected, [&](const std::string &entry) {
                            return nameOf(entry) == head->name;
                          });
  if (!isLeftOver || !match.missing.empty())
    return nullptr;
  const auto tied = std::ranges::find_if(match.transfers, [&](const TensorTransfer &transfer) {
    const WeightTensor &source = *transfer.source;
    return source.shape == head->shape && isEmbeddingName(source.name);
  });
  return tied == match.transfers.end() ? nullptr : tied->source;
}

/// Whether a file is named as one of several with a model's weights: model-00001-of-00002.safetensors.
bool isOneOfSeveral(const std::filesystem::path &file) {
  const std::string name = file.filename().string();
  constexpr std::string_view kOf = "-of-";
  const size_t of = name.rfind(kOf);
  const auto isDigit = [&](size_t at) { return at < name.size() && name[at] >= '0' && name[at] <= '9'; };
  return of != std::string::npos && of > 0 && isDigit(of - 1) && isDigit(of + kOf.size());
}

/// Advice if the files have an adapter, and the plan has none.
constexpr const char *kAdapterAdvice =
    "; the file has an adapter, and the plan has none: compile with --lora=LAYERS and the adapter's rank and "
    "alpha, or name weights into which the adapter is merged "
    "(trainc export --merge); --init-ignore='*.lora_*' leaves the adapter out";

/// Advice if parameters or tensors of the files, such as those of a head, have no partner. `head` is
/// the file's head if the plan's head may be tied to the embedding; null otherwise.
std::string adviceOn(const TensorMatch &match, const WeightFiles &weights, const WeightTensor *head) {
  const std::string &path = weights.path();
  if (!match.missing.empty() && std::ranges::all_of(weights.tensors(), [](const WeightTensor &tensor) {
        return tensor.name.starts_with(kAdapterPrefix);
      }))
    return fmt::format("; this is an adapter alone: name the base model's folder, too: --init=BASE --init={}",
                       path);
  if (!match.missing.empty() && isOneOfSeveral(path))
    return "; this is one of several files of a model: name their folder, or the "
           "model.safetensors.index.json in it";
  if (const std::optional<std::string> rule = renameByPrefix(match))
    return fmt::format(
        "; the names differ by a prefix: --rename='{}' gives the tensors the parameters' names", *rule);
  if (match.transfers.empty())
    return "";
  if (const WeightTensor *tied = tiedTensor(match, head))
    return fmt::format("; '{0}' is not equal to '{1}', so the weights are of a model with a head of its own: "
                       "give the model such a head, as one tied to '{1}' computes something else",
                       head->name, tied->name);
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
  for (const WeightTensor &tensor : weights.tensors())
    if (matchesAny(options.ignored, tensor.name)) {
      passedOver.insert(&tensor);
      unpaired.ignored.push_back(tensor.name);
    }
  TRAINC_ASSIGN_OR_RETURN(const Pairs pairs, pairByName(weights, parameters, passedOver));
  for (const WeightTensor *replaced : replacedTensors(weights, pairs))
    if (passedOver.insert(replaced).second)
      unpaired.ignored.push_back(replaced->name);
  const bool hasAdapter = std::ranges::any_of(
      weights.tensors(), [](const WeightTensor &tensor) { return isAdapterName(tensor.name); });
  const auto lookup = [&](const std::string &name) {
    const auto found = pairs.find(name);
    return found == pairs.end() ? nullptr : found->second;
  };
  std::vector<StateTensor> wanted;
  for (const StateTensor &parameter : parameters) {
    const WeightTensor *found = lookup(parameter.name);
    if (!hasAdapter && isAdapterName(parameter.name)) {
      ++unpaired.newAdapters;
      continue;
    }
    if ((found && found->shape == parameter.shape) || !matchesAny(options.missing, parameter.name)) {
      wanted.push_back(parameter);
      continue;
    }
    unpaired.drawn.push_back(parameter.name);
    passedOver.insert(found);
  }
  const bool plansAdapter = std::ranges::any_of(
      parameters, [](const StateTensor &parameter) { return isAdapterName(parameter.name); });
  const auto ignore = [&](const WeightTensor &tensor, const Tensors &used) {
    const bool isLeftOut = !passedOver.contains(&tensor) && isNeedless(tensor, used);
    if (isLeftOut)
      unpaired.buffers.push_back(tensor.name);
    return isLeftOut || passedOver.contains(&tensor);
  };
  TensorMatch match = matchTensors(weights.tensors(), wanted, lookup, ignore, Conversion::kRound);
  TRAINC_RETURN_IF_ERROR(match.status(
      fmt::format("--init={}: the weights do not fit this plan{}", weights.path(),
                  hasAdapter && !plansAdapter
                      ? kAdapterAdvice
                      : adviceOn(match, weights, unpaired.drawn.empty() ? headOf(weights) : nullptr))));
  for (TensorTransfer &transfer : match.transfers) // tensors outside a checkpoint have no checksums
    if (const auto found = recorded.tensors.find(transfer.source->name); found != recorded.tensors.end()) {
      transfer.checksums = &found->second;
      transfer.blockBytes = recorded.blockBytes;
    }
  TRAINC_ASSIGN_OR_RETURN(const auto fault, transferTensors(match.transfers, threads, Numbers::kFinite));
  TRAINC_RETURN_IF_ERROR(weights.check());
  if (fault)
    return refuse(weights, *fault);
  return unpaired;
}

} // namespace trainc
