#include "runtime/state/tensor_match.h"

#include <algorithm>

namespace trainc {

namespace {

constexpr size_t kListed = 8;

std::string listed(std::string_view title, const std::vector<std::string> &entries) {
  if (entries.empty())
    return "";
  std::string text = fmt::format("\n  {} ({}):", title, entries.size());
  for (size_t i = 0; i < std::min(entries.size(), kListed); ++i)
    text += "\n    " + entries[i];
  if (entries.size() > kListed)
    text += fmt::format("\n    ... and {} more", entries.size() - kListed);
  return text;
}

} // namespace

void addChecksums(const FileChecksums &recorded, std::span<TensorTransfer> transfers) {
  for (TensorTransfer &transfer : transfers)
    if (const auto found = recorded.tensors.find(transfer.source->name); found != recorded.tensors.end()) {
      transfer.checksums = &found->second;
      transfer.blockBytes = recorded.blockBytes;
    }
}

Status TensorMatch::status(const std::string &what) const {
  if (missing.empty() && unexpected.empty() && different.empty())
    return {};
  return invalidInput("{}{}{}{}", what, listed("different", different), listed("only in the plan", missing),
                      listed("only in the file", unexpected));
}

TensorMatch matchTensors(std::span<const SafetensorsView> files, std::span<const StateTensor> tensors,
                         const TensorLookup &lookup, const TensorFilter &ignore) {
  TensorMatch match;
  std::set<const SafetensorsTensor *> used;
  for (const StateTensor &tensor : tensors) {
    const SafetensorsTensor *source = lookup(tensor.name);
    if (!source) {
      match.missing.push_back(fmt::format("{}: {}", tensor.name, describe(tensor)));
      continue;
    }
    used.insert(source);
    if (source->shape != tensor.shape || !convertible(source->dtype, tensor.dtype))
      match.different.push_back(fmt::format("{}: {} in the file, {} in the plan", tensor.name,
                                            describe(*source), describe(tensor)));
    else
      match.transfers.push_back({source, &tensor});
  }
  for (const SafetensorsView &file : files)
    for (const SafetensorsTensor &tensor : file.tensors())
      if (!used.contains(&tensor) && !ignore(tensor, used))
        match.unexpected.push_back(fmt::format("{}: {}", tensor.name, describe(tensor)));
  return match;
}

} // namespace trainc
