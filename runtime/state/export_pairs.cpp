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
    // If `like` has a tensor of this name, too, the source's tensor belongs to that one.
    if (const WeightTensor *other = source.find(name); other && !like.find(name))
      return other;
  return nullptr;
}

/// The other tensor of `like` that has the content of its `head`: a tied embedding. Null if there is none.
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

/// Whether a component of the name is a number, as in "h.0.attn.c_attn.weight".
bool isInLayer(const std::string &name) {
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view part = std::string_view(name).substr(begin, end - begin);
    if (!part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; }))
      return true;
    begin = end + 1;
  }
  return false;
}

/// Pairs, and tensors of either side without a partner.
struct Matching {
  std::vector<ExportPair> pairs;
  std::vector<const WeightTensor *> onlyInLike, onlyInSource;
};

Matching match(const WeightFiles &source, const WeightFiles &like) {
  Matching result;
  std::set<const WeightTensor *> used;
  for (const WeightTensor &wanted : like.tensors()) {
    const WeightTensor *from = findSource(source, like, wanted);
    if (!from && isHeadName(wanted.name))
      if (const WeightTensor *tied = tiedTensor(like, wanted))
        from = findSource(source, like, *tied);
    if (!from && (isStoredBuffer(wanted.name, wanted.shape) || isOfPictures(wanted.name)))
      from = &wanted;
    if (!from) {
      result.onlyInLike.push_back(&wanted);
      continue;
    }
    used.insert(from);
    result.pairs.push_back({from, &wanted});
  }
  for (const WeightTensor &tensor : source.tensors())
    if (!used.contains(&tensor))
      result.onlyInSource.push_back(&tensor);
  return result;
}

std::vector<std::string> namesOf(const std::vector<const WeightTensor *> &tensors) {
  std::vector<std::string> names;
  for (const WeightTensor *tensor : tensors)
    names.push_back(tensor->name);
  return names;
}

/// Fails if tensors have no partner, or one of another shape.
Status check(const Matching &matching, const WeightFiles &source, const std::filesystem::path &likePath) {
  std::vector<std::string> faults, shapes;
  if (!matching.onlyInLike.empty())
    faults.push_back(fmt::format("only in --like: {}", listed(namesOf(matching.onlyInLike))));
  if (!matching.onlyInSource.empty())
    faults.push_back(fmt::format("only in the checkpoint: {}", listed(namesOf(matching.onlyInSource))));
  for (const auto &[from, wanted] : matching.pairs)
    if (from->shape != wanted->shape)
      shapes.push_back(fmt::format("'{}' is {} in the checkpoint and {} in --like", wanted->name,
                                   describe(*from), describe(*wanted)));
  if (!shapes.empty())
    faults.push_back(listed(shapes));
  if (faults.empty())
    return {};
  return invalidInput("--like={}: its weights are not of the model of {}: {}", likePath.string(),
                      source.path(), fmt::join(faults, "; "));
}

} // namespace

Result<std::vector<ExportPair>> pairTensors(const WeightFiles &source, const WeightFiles &like,
                                            const std::filesystem::path &likePath) {
  Matching matching = match(source, like);
  TRAINC_RETURN_IF_ERROR(check(matching, source, likePath));
  return std::move(matching.pairs);
}

Result<NewHeadPairs> pairTensorsOfNewHead(const WeightFiles &source, const WeightFiles &like,
                                          const std::filesystem::path &likePath, uint64_t labels,
                                          uint64_t oldLabels) {
  Matching matching = match(source, like);
  NewHeadPairs result;
  const auto isOfHead = [](const WeightTensor *tensor) { return !isInLayer(tensor->name); };
  std::erase_if(matching.pairs, [&](const ExportPair &pair) {
    const std::span<const uint64_t> shape = pair.source->shape, old = pair.like->shape;
    const bool hasOtherLabels = labels != oldLabels && !shape.empty() && shape.size() == old.size() &&
                                shape[0] == labels && old[0] == oldLabels &&
                                std::ranges::equal(shape.subspan(1), old.subspan(1));
    if (!hasOtherLabels || !isOfHead(pair.like))
      return false;
    matching.onlyInLike.push_back(pair.like);
    matching.onlyInSource.push_back(pair.source);
    return true;
  });
  std::erase_if(matching.onlyInSource, [&](const WeightTensor *tensor) {
    if (isOfHead(tensor))
      result.added.push_back(tensor);
    return isOfHead(tensor);
  });
  std::erase_if(matching.onlyInLike, [&](const WeightTensor *tensor) {
    if (isOfHead(tensor))
      result.dropped.push_back(tensor->name);
    return isOfHead(tensor);
  });
  TRAINC_RETURN_IF_ERROR(check(matching, source, likePath));
  result.pairs = std::move(matching.pairs);
  return result;
}

} // namespace trainc
