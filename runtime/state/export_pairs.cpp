#include "runtime/state/export_pairs.h"

#include "runtime/formats/hugging_face_names.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <set>

namespace trainc {

namespace {

/// The tensor of `source` that is written as `wanted` of the folder `like`; null if there is none.
const WeightTensor *findSource(const WeightFiles &source, const WeightFiles &like,
                               const WeightTensor &wanted) {
  if (const WeightTensor *same = source.find(wanted.name))
    return same;
  for (const std::string &name : otherNames(wanted.name))
    // A tensor that `like` has under this name is not this one.
    if (const WeightTensor *other = source.find(name); other && !like.find(name))
      return other;
  return nullptr;
}

/// The tensor of `like` that its `head` repeats; null if there is none.
const WeightTensor *tiedTensor(const WeightFiles &like, const WeightTensor &head) {
  const auto tensors = like.tensors();
  const auto found = std::ranges::find_if(tensors, [&](const WeightTensor &other) {
    return &other != &head && other.shape == head.shape && sameContent(other, head);
  });
  return found == tensors.end() ? nullptr : &*found;
}

/// At most three names, for messages.
std::string listed(const std::vector<std::string> &names) {
  constexpr size_t kShown = 3;
  const size_t shown = std::min(names.size(), kShown);
  return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + std::ptrdiff_t(shown), ", "),
                     names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "");
}

} // namespace

Result<std::vector<ExportPair>> pairTensors(const WeightFiles &source, const WeightFiles &like,
                                            const std::filesystem::path &likePath) {
  std::vector<ExportPair> pairs;
  std::vector<std::string> missing, unexpected, shapes;
  std::set<const WeightTensor *> used;
  for (const WeightTensor &wanted : like.tensors()) {
    const WeightTensor *from = findSource(source, like, wanted);
    if (!from && isHeadName(wanted.name))
      if (const WeightTensor *tied = tiedTensor(like, wanted))
        from = findSource(source, like, *tied);
    if (!from && isStoredBuffer(wanted.name, wanted.shape))
      from = &wanted;
    if (!from) {
      missing.push_back(wanted.name);
      continue;
    }
    if (from->shape != wanted.shape)
      shapes.push_back(fmt::format("'{}' is {} in the checkpoint and {} in --like", wanted.name,
                                   describe(*from), describe(wanted)));
    used.insert(from);
    pairs.push_back({from, &wanted});
  }
  for (const WeightTensor &tensor : source.tensors())
    if (!used.contains(&tensor))
      unexpected.push_back(tensor.name);
  std::vector<std::string> faults;
  if (!missing.empty())
    faults.push_back(fmt::format("only in --like: {}", listed(missing)));
  if (!unexpected.empty())
    faults.push_back(fmt::format("only in the checkpoint: {}", listed(unexpected)));
  if (!shapes.empty())
    faults.push_back(listed(shapes));
  if (faults.empty())
    return pairs;
  return invalidInput("--like={}: its weights are not of the model of {}: {}", likePath.string(),
                      source.path(), fmt::join(faults, "; "));
}

} // namespace trainc
